"""Current weather and forecasts of two providers as MCP tools."""
