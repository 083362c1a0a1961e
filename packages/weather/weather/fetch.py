"""Asks a weather service and turns what can go wrong into errors that a model can act on."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
from mcp.server.mcpserver.exceptions import ToolError

_reasons = {
    401: "it refused the API key: check OPENWEATHERMAP_API_KEY (a new key takes up to two hours to work)",
    403: "it refused the request",
    404: "it has no data for this place",
    429: "too many requests: try again later",
}


async def fetch_json(client: httpx.AsyncClient, url: str, params: Mapping[str, str | int | float]) -> Any:
    """The JSON document at a URL. An error never repeats the query: it may hold a key."""
    host = urlsplit(url).netloc
    try:
        response = await client.get(url, params=dict(params))
    except httpx.TimeoutException as error:
        raise ToolError(f"The weather service at {host} did not answer in time: try again later") from error
    except httpx.TransportError as error:
        raise ToolError(
            f"No network: the weather service at {host} cannot be reached. "
            "The package needs the network; see whether its sandbox has been given it (pkg info weather-tool)"
        ) from error
    if response.is_error:
        reason = _reasons.get(response.status_code, "try again later")
        raise ToolError(f"The weather service at {host} answered with HTTP {response.status_code}: {reason}")
    try:
        return response.json()
    except ValueError as error:
        raise ToolError(f"The weather service at {host} answered with something that is not JSON") from error


class UnexpectedAnswer(ToolError):
    """The service answered with JSON of another shape."""

    def __init__(self, provider: str, what: str) -> None:
        super().__init__(f"{provider} answered in an unexpected form: {what} is missing")


def required(provider: str, document: Any, *path: str | int) -> Any:
    """The value at a path of a JSON document."""
    value = document
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError) as error:
            raise UnexpectedAnswer(provider, ".".join(str(part) for part in path)) from error
    if value is None:
        raise UnexpectedAnswer(provider, ".".join(str(part) for part in path))
    return value


def measured(provider: str, document: Any, *path: str | int) -> float:
    """The number at a path, which the service always has."""
    value = number(document, *path)
    if value is None:
        raise UnexpectedAnswer(provider, ".".join(str(part) for part in path))
    return value


def number(document: Any, *path: str | int) -> float | None:
    """The number at a path, or None where there is none."""
    value = document
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
