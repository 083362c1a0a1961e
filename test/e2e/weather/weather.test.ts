import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { execa } from 'execa'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readManifest } from '../../../registry/manifest/readManifest.ts'
import { missing } from '../../provision/requirements.ts'
import { pythonEnvironment } from './pythonEnvironment.ts'
import { startWeatherServices, type WeatherServices } from './weatherServices.ts'

const folder = fileURLToPath(new URL('../../../packages/weather', import.meta.url))
const reason = await missing('python', 'pypi')

describe.skipIf(reason !== null)(`the weather package${reason === null ? '' : ` [${reason}]`}`, () => {
  let python: string
  let services: WeatherServices
  let cleanups: (() => Promise<unknown>)[]

  beforeAll(async () => {
    const { manifest } = await readManifest(folder)
    python = await pythonEnvironment(manifest.dependencies.pypi)
  })
  beforeEach(async () => {
    services = await startWeatherServices()
    cleanups = [async () => services[Symbol.asyncDispose]()]
  })
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })

  const environment = (env: Record<string, string>) => ({
    PYTHONDONTWRITEBYTECODE: '1',
    OPEN_METEO_URL: services.url,
    OPEN_METEO_GEOCODING_URL: services.url,
    OPENWEATHERMAP_URL: services.url,
    ...env,
  })

  /** The server as a client sees it, and what it has written to stderr so far. */
  async function connect(env: Record<string, string> = {}) {
    const transport = new StdioClientTransport({ command: python, args: ['server.py'], cwd: folder, env: environment(env), stderr: 'pipe' })
    let log = ''
    transport.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString()
    })
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    cleanups.push(() => client.close())
    const call = async (name: string, args: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: args })
      const [content] = result.content
      return { isError: result.isError ?? false, text: content?.type === 'text' ? content.text : '', data: result.structuredContent }
    }
    return { client, call, log: () => log }
  }

  it('offers two tools with schemas of what they take and give', async () => {
    const { client } = await connect()
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(['get_current_weather', 'get_forecast'])
    for (const tool of tools) {
      expect(tool.inputSchema.required).toEqual(['location'])
      expect(tool.outputSchema).toBeDefined()
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: true })
    }
  })

  describe('without a key, from Open-Meteo', () => {
    it('tells the current weather, as data and as text', async () => {
      const { call } = await connect()
      const { text, data, isError } = await call('get_current_weather', { location: 'Paris' })
      expect({ text, isError }).toEqual({
        text: 'Paris, France, 2026-03-01T12:00: 10.0 °C, slight rain; feels like 8.5 °C; humidity 71 %; wind 3.2 m/s (Open-Meteo)',
        isError: false,
      })
      expect(data).toMatchObject({
        place: { latitude: 48.85, longitude: 2.35 },
        temperature: 10,
        conditions: 'slight rain',
        units: 'metric',
        cloud_cover_percent: null,
      })
    })

    it.each([
      ['Paris, US', -95.55],
      ['Paris, Texas, United States', -95.55],
      ['paris , fr', 2.35],
      ['48.1, 11.6', 11.6],
      ['-33.9;151.2', 151.2],
    ])('finds %s', async (location, longitude) => {
      const { call } = await connect()
      expect(await call('get_current_weather', { location })).toMatchObject({ isError: false, data: { place: { longitude } } })
    })

    it('names the namesakes of a place that it does not find', async () => {
      const { call } = await connect()
      expect(await call('get_current_weather', { location: 'Paris, TX' })).toMatchObject({
        isError: true,
        text: expect.stringContaining('there are: Paris, Île-de-France, France; Paris, Texas, United States'),
      })
    })

    it('tells five days, or as many as are asked for', async () => {
      const { call } = await connect()
      const five = await call('get_forecast', { location: 'Paris, FR' })
      expect(five.data).toMatchObject({
        days: [
          { date: '2026-03-01' },
          {},
          { conditions: 'slight rain', precipitation: 4.2 },
          {},
          { conditions: 'unknown', precipitation: null },
        ],
      })
      expect(five.text.split('\n')).toHaveLength(6)
      expect((await call('get_forecast', { location: 'Paris', days: 2 })).data).toMatchObject({ days: [{}, { temperature_max: 12 }] })
      expect(services.requests.at(-1)?.searchParams.get('forecast_days')).toBe('2')
    })

    it('speaks imperial units when told to, by the configuration or the call', async () => {
      const configured = await connect({ UNITS: 'imperial' })
      expect((await configured.call('get_current_weather', { location: 'Paris' })).text).toContain('50.0 °F')
      expect((await configured.call('get_current_weather', { location: 'Paris', units: 'metric' })).text).toContain('10.0 °C')
      expect(services.requests.map((url) => url.searchParams.get('wind_speed_unit')).filter(Boolean)).toEqual(['mph', 'ms'])
    })
  })

  describe('with a key, from OpenWeatherMap', () => {
    const key = { OPENWEATHERMAP_API_KEY: 'good-key' }

    it('tells the current weather in local time', async () => {
      const { call } = await connect(key)
      expect((await call('get_current_weather', { location: 'Taipei, TW' })).text).toBe(
        'Taipei, TW, 2026-03-01T08:00: 22.5 °C, few clouds; feels like 23.0 °C; humidity 80 %; wind 4.0 m/s (OpenWeatherMap)',
      )
    })

    it('puts steps of three hours together by local day', async () => {
      const { call } = await connect(key)
      const { data } = await call('get_forecast', { location: 'Taipei, TW' })
      expect(data).toMatchObject({
        days: [
          {
            date: '2026-03-01',
            temperature_min: 0,
            temperature_max: 5.5,
            precipitation: 6,
            precipitation_probability_percent: 50,
            conditions: 'light rain',
            wind_speed_max: 5,
          },
          { date: '2026-03-02', temperature_min: 6, temperature_max: 13.5, precipitation: 8 },
          {},
          {},
          { date: '2026-03-05' },
        ],
      })
    })

    it('says that a key is wrong, and shows it to nobody', async () => {
      const { call, log } = await connect({ OPENWEATHERMAP_API_KEY: 'wrong-key' })
      const { isError, text } = await call('get_current_weather', { location: '25, 121' })
      expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining('check OPENWEATHERMAP_API_KEY') })
      expect(services.requests.at(-1)?.searchParams.get('appid')).toBe('wrong-key')
      expect(text + log()).not.toContain('wrong-key')
    })
  })

  describe('when something is wrong', () => {
    it('says that there is no network', async () => {
      const closed = createServer()
      await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
      await new Promise((resolve) => closed.close(resolve))
      const { call, client } = await connect({ OPEN_METEO_URL: url, OPEN_METEO_GEOCODING_URL: url })
      for (const tool of ['get_current_weather', 'get_forecast']) {
        expect(await call(tool, { location: 'Paris' })).toMatchObject({ isError: true, text: expect.stringContaining('No network') })
      }
      expect((await client.listTools()).tools).toHaveLength(2)
    })

    it.each([
      ['/v1/forecast', { status: 500, body: 'oops' }, 'HTTP 500'],
      ['/v1/forecast', { status: 429, body: '' }, 'too many requests'],
      ['/v1/forecast', { status: 200, body: '<html>' }, 'not JSON'],
      ['/v1/forecast', { json: { current: {} } }, 'unexpected form: time is missing'],
      ['/v1/forecast', { json: { current: { time: 'x', temperature_2m: 'warm' } } }, 'unexpected form: temperature_2m is missing'],
      ['/v1/search', { json: { results: [] } }, 'No place is called "Paris"'],
      ['/v1/forecast', 'silence', 'did not answer in time'],
    ] as const)('turns %s answering %j into a tool error', async (path, answer, why) => {
      services.answer(path, answer)
      const { call } = await connect({ WEATHER_TIMEOUT_SECONDS: '0.5' })
      expect(await call('get_current_weather', { location: 'Paris' })).toMatchObject({ isError: true, text: expect.stringContaining(why) })
    })

    it.each([
      { location: '' },
      { location: ' , ' },
      { location: '99, 200' },
      { location: 'Paris', days: 6 },
      { location: 'Paris', units: 'kelvin' },
      {},
    ])('refuses %j without asking anybody', async (args) => {
      const { call } = await connect()
      expect((await call('get_forecast', args)).isError).toBe(true)
      expect(services.requests).toEqual([])
    })

    it.each([
      [{ UNITS: 'kelvin' }, 'UNITS is "kelvin": it must be metric or imperial'],
      [{ OPEN_METEO_URL: 'ftp://x' }, 'OPEN_METEO_URL is "ftp://x"'],
      [{ WEATHER_TIMEOUT_SECONDS: 'soon' }, 'WEATHER_TIMEOUT_SECONDS is "soon"'],
    ])('does not start with %j', async (env, why) => {
      const { exitCode, stderr } = await execa(python, ['server.py'], {
        cwd: folder,
        env: environment(env),
        extendEnv: false,
        reject: false,
        input: '',
      })
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(why) })
    })
  })

  it('says of itself what its manifest says', async () => {
    const { manifest } = await readManifest(folder)
    const { client } = await connect()
    expect(client.getServerVersion()).toMatchObject({ name: manifest.id, version: manifest.version })
  })
})
