/** A DNS message as TCP carries it (RFC 1035, 4.2.2): two bytes of length, then the message. */
export function toLengthFrame(message: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

/** Cuts a byte stream into messages; feed it chunks, it gives back what is complete. It never holds more than one message's 65,537 bytes plus a chunk. */
export function createLengthFrames(): (chunk: Buffer | string) => Buffer[] {
  let pending = Buffer.alloc(0)
  return (chunk) => {
    pending = Buffer.concat([pending, typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk])
    const messages: Buffer[] = []
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0)
      messages.push(pending.subarray(2, end))
      pending = pending.subarray(end)
    }
    return messages
  }
}
