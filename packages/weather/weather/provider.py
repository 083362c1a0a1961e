"""What a weather service offers the tools."""

from typing import Protocol

from .reports import CurrentWeather, Forecast
from .settings import Units


class Provider(Protocol):
    name: str

    async def current(self, location: str, units: Units) -> CurrentWeather: ...

    async def forecast(self, location: str, days: int, units: Units) -> Forecast: ...
