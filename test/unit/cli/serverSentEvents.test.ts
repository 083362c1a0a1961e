import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseServerSentEvents, type ServerSentEvent } from '../../../cli/serverSentEvents.ts'

async function parse(chunks: readonly Uint8Array[]): Promise<ServerSentEvent[]> {
  async function* bytes() {
    yield* chunks
  }
  return Array.fromAsync(parseServerSentEvents(bytes()))
}

describe('parseServerSentEvents', () => {
  it.each([
    ['data: a\n\n', [{ id: null, event: 'message', data: 'a' }]],
    [': heartbeat\n\nid: 7\nevent: x\ndata: a\ndata: b\n\n', [{ id: '7', event: 'x', data: 'a\nb' }]],
    ['data:no blank\r\n\r\n', [{ id: null, event: 'message', data: 'no blank' }]],
    ['data: cut', []],
    ['event: without data\n\n', []],
  ])('%j', async (text, expected) => expect(await parse([Buffer.from(text)])).toEqual(expected))

  it('does not care where the stream was cut', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(200)),
        async (texts, cuts) => {
          const clean = texts.map((text) => text.replace(/[\r\n]/g, ' '))
          const bytes = Buffer.from(clean.map((text, index) => `id: ${index}\ndata: ${text}\n\n`).join(''))
          const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
          const chunks = [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
          const events = await parse(chunks)
          expect(events.map(({ data }) => data)).toEqual(clean)
        },
      ),
    ))
})
