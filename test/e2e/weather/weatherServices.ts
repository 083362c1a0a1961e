import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a route answers: a JSON document, or a status with a raw body. */
type Answer = { readonly json: unknown } | { readonly status: number; readonly body: string } | 'silence'

/** A local server that plays Open-Meteo (forecast and geocoding) and OpenWeatherMap. */
export interface WeatherServices extends AsyncDisposable {
  readonly url: string
  /** Paths with their queries, in the order of arrival. */
  readonly requests: URL[]
  /** Answers this path in another way from now on. */
  answer(path: string, answer: Answer): void
}

const day = 86_400

/** 2026-03-01T00:00 UTC. */
const start = 1_772_323_200

const steps = Array.from({ length: 40 }, (_, at) => ({
  dt: start + at * (day / 8),
  main: { temp_min: at, temp_max: at + 0.5 },
  weather: [{ description: at % 8 < 5 ? 'light rain' : 'clear sky' }],
  wind: { speed: at % 8 },
  pop: (at % 8) / 10,
  rain: { '3h': 1 },
}))

const routes: Readonly<Record<string, (query: URLSearchParams) => Answer>> = {
  '/v1/search': (query) => ({
    json: {
      results:
        query.get('name')?.toLowerCase() === 'paris'
          ? [
              { name: 'Paris', country: 'France', country_code: 'FR', admin1: 'Île-de-France', latitude: 48.85, longitude: 2.35 },
              { name: 'Paris', country: 'United States', country_code: 'US', admin1: 'Texas', latitude: 33.66, longitude: -95.55 },
            ]
          : undefined,
    },
  }),
  '/v1/forecast': (query) => ({
    json: query.has('current')
      ? {
          current: {
            time: '2026-03-01T12:00',
            temperature_2m: query.get('temperature_unit') === 'fahrenheit' ? 50 : 10,
            relative_humidity_2m: 71,
            apparent_temperature: 8.5,
            weather_code: 61,
            wind_speed_10m: 3.2,
          },
        }
      : {
          daily: {
            time: ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05'].slice(0, Number(query.get('forecast_days'))),
            weather_code: [0, 3, 61, 95, null],
            temperature_2m_min: [1, 2, 3, 4, 5],
            temperature_2m_max: [11, 12, 13, 14, 15],
            precipitation_sum: [0, 0, 4.2, 9, null],
            precipitation_probability_max: [0, 10, 80, 90, 5],
            wind_speed_10m_max: [2, 3, 4, 5, 6],
          },
        },
  }),
  '/geo/1.0/direct': (query) => ({
    json: query.get('q') === 'Taipei,TW' ? [{ name: 'Taipei', country: 'TW', lat: 25.04, lon: 121.56 }] : [],
  }),
  '/data/2.5/weather': () => ({
    json: {
      dt: start,
      timezone: 28_800,
      weather: [{ description: 'few clouds' }],
      main: { temp: 22.5, feels_like: 23, humidity: 80, pressure: 1013 },
      clouds: { all: 20 },
      wind: { speed: 4, deg: 90 },
    },
  }),
  '/data/2.5/forecast': () => ({ json: { city: { timezone: 28_800 }, list: steps } }),
}

export async function startWeatherServices(): Promise<WeatherServices> {
  const requests: URL[] = []
  const answers = new Map<string, Answer>()
  const answerTo = (request: IncomingMessage): Answer => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    requests.push(url)
    if (url.pathname.startsWith('/data/') && url.searchParams.get('appid') !== 'good-key')
      return { status: 401, body: '{"message":"Invalid API key"}' }
    return answers.get(url.pathname) ?? routes[url.pathname]?.(url.searchParams) ?? { status: 404, body: 'no such route' }
  }
  const server = createServer((request, response) => {
    const answer = answerTo(request)
    if (answer === 'silence') return
    const [status, body] = 'json' in answer ? [200, JSON.stringify(answer.json)] : [answer.status, answer.body]
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (path, answer) => void answers.set(path, answer),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
