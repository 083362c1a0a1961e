"""What the server is told through its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

Units = Literal["metric", "imperial"]


class SettingsError(Exception):
    """A value of the environment that cannot be used; the message names it."""


@dataclass(frozen=True)
class Settings:
    openweathermap_api_key: str | None
    units: Units
    open_meteo_url: str
    open_meteo_geocoding_url: str
    openweathermap_url: str
    timeout_seconds: float


def read_settings(env: Mapping[str, str]) -> Settings:
    return Settings(
        openweathermap_api_key=env.get("OPENWEATHERMAP_API_KEY", "").strip() or None,
        units=_units(env.get("UNITS") or "metric"),
        open_meteo_url=_url(env, "OPEN_METEO_URL", "https://api.open-meteo.com"),
        open_meteo_geocoding_url=_url(env, "OPEN_METEO_GEOCODING_URL", "https://geocoding-api.open-meteo.com"),
        openweathermap_url=_url(env, "OPENWEATHERMAP_URL", "https://api.openweathermap.org"),
        timeout_seconds=_seconds(env.get("WEATHER_TIMEOUT_SECONDS") or "10"),
    )


def _units(text: str) -> Units:
    for units in get_args(Units):
        if text.strip().lower() == units:
            return units
    raise SettingsError(f'UNITS is "{text}": it must be metric or imperial')


def _url(env: Mapping[str, str], name: str, default: str) -> str:
    url = (env.get(name) or default).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f'{name} is "{url}": it must be an http or https address')
    return url


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 300:
        raise SettingsError(f'WEATHER_TIMEOUT_SECONDS is "{text}": it must be a number above 0 and up to 300')
    return seconds
