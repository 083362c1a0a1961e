"""OpenWeatherMap (openweathermap.org): needs a key; its free plan is enough."""

from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx

from .fetch import fetch_json, measured, number, required
from .places import not_found, parse_location
from .reports import CurrentWeather, Forecast, ForecastDay, Place
from .settings import Settings, Units

_mm_per_inch = 25.4


class OpenWeatherMap:
    name = "OpenWeatherMap"

    def __init__(self, settings: Settings, client: httpx.AsyncClient, api_key: str) -> None:
        self._url = settings.openweathermap_url
        self._client = client
        self._api_key = api_key

    async def current(self, location: str, units: Units) -> CurrentWeather:
        place = await self._locate(location)
        now = await self._ask("/data/2.5/weather", {"lat": place.latitude, "lon": place.longitude, "units": units})
        offset = number(now, "timezone") or 0
        return CurrentWeather(
            place=place,
            time=_local(measured(self.name, now, "dt"), offset).strftime("%Y-%m-%dT%H:%M"),
            conditions=str(required(self.name, now, "weather", 0, "description")),
            temperature=measured(self.name, now, "main", "temp"),
            feels_like=number(now, "main", "feels_like"),
            humidity_percent=number(now, "main", "humidity"),
            pressure_hpa=number(now, "main", "pressure"),
            cloud_cover_percent=number(now, "clouds", "all"),
            wind_speed=number(now, "wind", "speed"),
            wind_direction_degrees=number(now, "wind", "deg"),
            units=units,
            provider=self.name,
        )

    async def forecast(self, location: str, days: int, units: Units) -> Forecast:
        """The free plan has steps of three hours: they are put together by local day."""
        place = await self._locate(location)
        answer = await self._ask("/data/2.5/forecast", {"lat": place.latitude, "lon": place.longitude, "units": units})
        offset = number(answer, "city", "timezone") or 0
        by_date: dict[str, list[Any]] = {}
        for step in required(self.name, answer, "list"):
            date = _local(measured(self.name, step, "dt"), offset).date().isoformat()
            by_date.setdefault(date, []).append(step)
        return Forecast(
            place=place,
            days=[self._day(date, by_date[date], units) for date in sorted(by_date)[:days]],
            units=units,
            provider=self.name,
        )

    def _day(self, date: str, steps: list[Any], units: Units) -> ForecastDay:
        conditions = Counter(str(required(self.name, step, "weather", 0, "description")) for step in steps)
        millimetres = sum((number(step, "rain", "3h") or 0) + (number(step, "snow", "3h") or 0) for step in steps)
        chances = [chance for step in steps if (chance := number(step, "pop")) is not None]
        winds = [wind for step in steps if (wind := number(step, "wind", "speed")) is not None]
        return ForecastDay(
            date=date,
            conditions=conditions.most_common(1)[0][0],
            temperature_min=min(measured(self.name, step, "main", "temp_min") for step in steps),
            temperature_max=max(measured(self.name, step, "main", "temp_max") for step in steps),
            precipitation=round(millimetres if units == "metric" else millimetres / _mm_per_inch, 2),
            precipitation_probability_percent=round(100 * max(chances)) if chances else None,
            wind_speed_max=max(winds) if winds else None,
        )

    async def _ask(self, path: str, params: dict[str, Any]) -> Any:
        return await fetch_json(self._client, f"{self._url}{path}", {**params, "appid": self._api_key})

    async def _locate(self, location: str) -> Place:
        wanted = parse_location(location)
        if isinstance(wanted, Place):
            return wanted
        found = await self._ask("/geo/1.0/direct", {"q": ",".join((wanted.name, *wanted.qualifiers)), "limit": 1})
        if not isinstance(found, list) or not found:
            raise not_found(location)
        return Place(
            name=str(required(self.name, found, 0, "name")),
            country=found[0].get("country"),
            latitude=measured(self.name, found, 0, "lat"),
            longitude=measured(self.name, found, 0, "lon"),
        )


def _local(epoch: float, offset_seconds: float) -> datetime:
    return datetime.fromtimestamp(epoch, timezone(timedelta(seconds=offset_seconds)))
