"""What the tools answer, as data and as text."""

from pydantic import BaseModel, Field

from .settings import Units


class Place(BaseModel):
    name: str
    country: str | None = None
    latitude: float
    longitude: float

    @property
    def label(self) -> str:
        return f"{self.name}, {self.country}" if self.country else self.name


class CurrentWeather(BaseModel):
    """The weather at a place now."""

    place: Place
    time: str = Field(description="Local time of the observation, ISO 8601")
    conditions: str
    temperature: float
    feels_like: float | None = None
    humidity_percent: float | None = None
    pressure_hpa: float | None = None
    cloud_cover_percent: float | None = None
    wind_speed: float | None = None
    wind_direction_degrees: float | None = None
    units: Units
    provider: str


class ForecastDay(BaseModel):
    date: str = Field(description="Local date, ISO 8601")
    conditions: str
    temperature_min: float
    temperature_max: float
    precipitation: float | None = Field(default=None, description="Sum of the day, mm or inches")
    precipitation_probability_percent: float | None = None
    wind_speed_max: float | None = None


class Forecast(BaseModel):
    """The weather at a place in the next days, today first."""

    place: Place
    days: list[ForecastDay]
    units: Units
    provider: str


def _degrees(units: Units) -> str:
    return "°C" if units == "metric" else "°F"


def _speed(units: Units) -> str:
    return "m/s" if units == "metric" else "mph"


def _amount(units: Units) -> str:
    return "mm" if units == "metric" else "in"


def current_text(report: CurrentWeather) -> str:
    units = report.units
    parts = [f"{report.temperature:.1f} {_degrees(units)}, {report.conditions}"]
    if report.feels_like is not None:
        parts.append(f"feels like {report.feels_like:.1f} {_degrees(units)}")
    if report.humidity_percent is not None:
        parts.append(f"humidity {report.humidity_percent:.0f} %")
    if report.wind_speed is not None:
        parts.append(f"wind {report.wind_speed:.1f} {_speed(units)}")
    return f"{report.place.label}, {report.time}: {'; '.join(parts)} ({report.provider})"


def forecast_text(forecast: Forecast) -> str:
    lines = [f"{forecast.place.label}, next {len(forecast.days)} days ({forecast.provider}):"]
    for day in forecast.days:
        line = f"{day.date}: {day.temperature_min:.1f} to {day.temperature_max:.1f} {_degrees(forecast.units)}, {day.conditions}"
        if day.precipitation is not None:
            line += f", {day.precipitation:.1f} {_amount(forecast.units)}"
        if day.precipitation_probability_percent is not None:
            line += f" ({day.precipitation_probability_percent:.0f} %)"
        lines.append(line)
    return "\n".join(lines)
