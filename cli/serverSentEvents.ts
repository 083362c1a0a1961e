/** One event of a `text/event-stream` (WHATWG HTML, server-sent events). Comments, such as heartbeats, are not events. */
export interface ServerSentEvent {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** Splits a byte stream into its events; an event the stream ends within is dropped, as the standard says. */
export async function* parseServerSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncIterable<ServerSentEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let id: string | null = null
  let event = ''
  let data: string[] = []
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') }
        event = ''
        data = []
        continue
      }
      const colon = line.indexOf(':')
      const field = colon === -1 ? line : line.slice(0, colon)
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (field === 'data') data.push(value)
      else if (field === 'event') event = value
      else if (field === 'id') id = value
    }
  }
}
