"""The MCP server and its tools."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import httpx
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from .open_meteo import OpenMeteo
from .openweathermap import OpenWeatherMap
from .provider import Provider
from .reports import CurrentWeather, Forecast, current_text, forecast_text
from .settings import Settings, Units

Location = Annotated[str, Field(min_length=1, max_length=200, description='A place: "Berlin", "Paris, FR", or coordinates "52.52, 13.41"')]
UnitsWanted = Annotated[Units | None, Field(description="metric or imperial; what is configured when absent")]
Days = Annotated[int, Field(ge=1, le=5, description="How many days, today included")]

_reads_the_world = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True)


def create_server(settings: Settings) -> MCPServer[Provider]:
    # Its lines hold whole URLs, and with them the API key.
    logging.getLogger("httpx").setLevel(logging.WARNING)

    @asynccontextmanager
    async def lifespan(_: MCPServer[Provider]) -> AsyncIterator[Provider]:
        async with httpx.AsyncClient(timeout=settings.timeout_seconds, headers={"accept": "application/json"}) as client:
            key = settings.openweathermap_api_key
            yield OpenWeatherMap(settings, client, key) if key else OpenMeteo(settings, client)

    server: MCPServer[Provider] = MCPServer(
        "weather-tool",
        title="Weather Tool",
        version="1.0.0",
        instructions="Current weather and forecasts of up to five days for places all over the world.",
        lifespan=lifespan,
        log_level="WARNING",
    )

    @server.tool(title="Current weather", annotations=_reads_the_world)
    async def get_current_weather(
        location: Location, ctx: Context[Provider], units: UnitsWanted = None
    ) -> Annotated[CallToolResult, CurrentWeather]:
        """The weather at a place now: temperature, conditions, humidity, pressure, wind."""
        report = await ctx.request_context.lifespan_context.current(location, units or settings.units)
        return _result(report, current_text(report))

    @server.tool(title="Forecast", annotations=_reads_the_world)
    async def get_forecast(
        location: Location, ctx: Context[Provider], days: Days = 5, units: UnitsWanted = None
    ) -> Annotated[CallToolResult, Forecast]:
        """The weather at a place in the next days: temperatures, conditions, precipitation, wind."""
        forecast = await ctx.request_context.lifespan_context.forecast(location, days, units or settings.units)
        return _result(forecast, forecast_text(forecast))

    return server


def _result(report: BaseModel, text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=report.model_dump(mode="json"))
