"""Open-Meteo (open-meteo.com): needs no key."""

from typing import Any

import httpx

from .conditions import describe_code
from .fetch import fetch_json, measured, number, required
from .places import PlaceName, not_found, parse_location
from .reports import CurrentWeather, Forecast, ForecastDay, Place
from .settings import Settings, Units

_current = (
    "temperature_2m,relative_humidity_2m,apparent_temperature,weather_code,cloud_cover,pressure_msl,wind_speed_10m,wind_direction_10m"
)
_daily = "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max"
_most_namesakes = 5


class OpenMeteo:
    name = "Open-Meteo"

    def __init__(self, settings: Settings, client: httpx.AsyncClient) -> None:
        self._settings = settings
        self._client = client

    async def current(self, location: str, units: Units) -> CurrentWeather:
        place = await self._locate(location)
        answer = await self._ask(place, units, {"current": _current})
        now = required(self.name, answer, "current")
        return CurrentWeather(
            place=place,
            time=str(required(self.name, now, "time")),
            conditions=describe_code(number(now, "weather_code")),
            temperature=measured(self.name, now, "temperature_2m"),
            feels_like=number(now, "apparent_temperature"),
            humidity_percent=number(now, "relative_humidity_2m"),
            pressure_hpa=number(now, "pressure_msl"),
            cloud_cover_percent=number(now, "cloud_cover"),
            wind_speed=number(now, "wind_speed_10m"),
            wind_direction_degrees=number(now, "wind_direction_10m"),
            units=units,
            provider=self.name,
        )

    async def forecast(self, location: str, days: int, units: Units) -> Forecast:
        place = await self._locate(location)
        answer = await self._ask(place, units, {"daily": _daily, "forecast_days": days})
        daily = required(self.name, answer, "daily")
        dates = required(self.name, daily, "time")
        return Forecast(
            place=place,
            days=[
                ForecastDay(
                    date=str(date),
                    conditions=describe_code(number(daily, "weather_code", at)),
                    temperature_min=measured(self.name, daily, "temperature_2m_min", at),
                    temperature_max=measured(self.name, daily, "temperature_2m_max", at),
                    precipitation=number(daily, "precipitation_sum", at),
                    precipitation_probability_percent=number(daily, "precipitation_probability_max", at),
                    wind_speed_max=number(daily, "wind_speed_10m_max", at),
                )
                for at, date in enumerate(dates[:days])
            ],
            units=units,
            provider=self.name,
        )

    async def _ask(self, place: Place, units: Units, what: dict[str, str | int]) -> Any:
        measures = (
            {"temperature_unit": "celsius", "wind_speed_unit": "ms", "precipitation_unit": "mm"}
            if units == "metric"
            else {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}
        )
        where = {"latitude": place.latitude, "longitude": place.longitude, "timezone": "auto"}
        return await fetch_json(self._client, f"{self._settings.open_meteo_url}/v1/forecast", {**where, **measures, **what})

    async def _locate(self, location: str) -> Place:
        wanted = parse_location(location)
        if isinstance(wanted, Place):
            return wanted
        url = f"{self._settings.open_meteo_geocoding_url}/v1/search"
        answer = await fetch_json(self._client, url, {"name": wanted.name, "count": 20, "language": "en", "format": "json"})
        results = (answer.get("results") if isinstance(answer, dict) else None) or []
        for result in results:
            if _qualifies(result, wanted):
                return Place(
                    name=str(required(self.name, result, "name")),
                    country=result.get("country"),
                    latitude=measured(self.name, result, "latitude"),
                    longitude=measured(self.name, result, "longitude"),
                )
        raise not_found(location, [_full_name(result) for result in results[:_most_namesakes]])


def _full_name(result: dict[str, Any]) -> str:
    return ", ".join(str(result[key]) for key in ("name", "admin1", "country") if result.get(key))


def _qualifies(result: dict[str, Any], wanted: PlaceName) -> bool:
    """The geocoder searches by name alone: country, its code and the regions are compared here."""
    known = {str(result.get(key, "")).casefold() for key in ("country", "country_code", "admin1", "admin2", "admin3")}
    return all(qualifier.casefold() in known for qualifier in wanted.qualifiers)
