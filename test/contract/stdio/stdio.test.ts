import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFrameBudget } from '../../../daemon/rpc/frameBudget.ts'
import { createFrameReader } from '../../../daemon/rpc/frameReader.ts'
import { openChannel, type StdioRig, stdioPlanes } from './rigs.ts'

const megabyte = 1 << 20
const newline = 0x0a

/** Writes with respect for backpressure. */
async function write(channel: Duplex, chunk: string | Buffer): Promise<void> {
  if (!channel.write(chunk)) await once(channel, 'drain')
}

/** Reads until that many bytes are there; later ones stay in the channel. */
async function readBytes(channel: Duplex, count: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let left = count; left > 0; ) {
    const chunk: Buffer | null = channel.read(Math.min(left, channel.readableLength || 1))
    if (chunk === null) await once(channel, 'readable')
    else {
      chunks.push(chunk)
      left -= chunk.length
    }
  }
  return Buffer.concat(chunks)
}

/** Reads a line; what follows it stays in the channel. */
async function readLine(channel: Duplex): Promise<string> {
  for (let line = ''; ; ) {
    const chunk: Buffer | null = channel.read()
    if (chunk === null) {
      await once(channel, 'readable')
      continue
    }
    const end = chunk.indexOf(newline)
    if (end === -1) {
      line += chunk.toString()
      continue
    }
    if (end + 1 < chunk.length) channel.unshift(chunk.subarray(end + 1))
    return line + chunk.toString('utf8', 0, end)
  }
}

/** How much waits in the channel once no more comes in. */
async function settledLength(channel: Duplex): Promise<number> {
  let length = -1
  for (let same = 0; same < 20; await new Promise((resolve) => setTimeout(resolve, 5))) {
    same = channel.readableLength === length ? same + 1 : 0
    length = channel.readableLength
  }
  return length
}

describe.each(stdioPlanes)('stdio over $name', ({ name, unavailable, keepsOutput, open }) => {
  describe.skipIf(unavailable !== null)(unavailable === null ? 'contract' : `contract [${name}: ${unavailable}]`, () => {
    let rig: StdioRig
    beforeAll(async () => {
      rig = await open()
    }, 300_000)
    afterAll(() => rig?.[Symbol.asyncDispose]())

    test('lines keep their order and none is lost', async () => {
      await using program = await rig.start('counter')
      await using channel = await program.open()
      const count = 20_000
      const writing = (async () => {
        for (let line = 1; line <= count; line++) await write(channel, `line ${line}\n`)
      })()
      for (let line = 1; line <= count; line++) expect(await readLine(channel)).toBe(`${line} line ${line}`)
      await writing
    })

    test('a line may be split anywhere', async () => {
      await using program = await rig.start('echo')
      await using channel = await program.open()
      const splits = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(splits, async (pieces) => {
          for (const piece of pieces) channel.write(Buffer.from(piece))
          const whole = Buffer.concat(pieces)
          expect((await readBytes(channel, whole.length)).equals(whole)).toBe(true)
        }),
        { numRuns: 50 },
      )
    })

    test('garbage between lines passes as it is', async () => {
      await using program = await rig.start('echo')
      await using channel = await program.open()
      const garbage = Buffer.from([...Array(256).keys(), 0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, newline, newline, 0x1b, 0x5b])
      const whole = Buffer.concat([Buffer.from('{"a":1}\n'), garbage, Buffer.from('\n{"b":2}\n')])
      channel.write(whole)
      expect((await readBytes(channel, whole.length)).equals(whole)).toBe(true)
    })

    test('100 MB in one line, into the package', async () => {
      await using program = await rig.start('digest')
      await using channel = await program.open()
      const block = Buffer.alloc(megabyte, 'pkgd')
      const hash = createHash('sha1')
      for (let at = 0; at < 100; at++) {
        hash.update(block)
        await write(channel, block)
      }
      channel.write('\n')
      expect(await readLine(channel)).toBe(`${100 * megabyte} ${hash.digest('hex')}`)
    })

    test('100 MB in one line, out of the package', async () => {
      await using program = await rig.start('produce')
      await using channel = await program.open()
      const size = 100 * megabyte
      let received = 0
      let frames = 0
      const reader = createFrameReader({
        maxFrameBytes: 2 * size,
        budget: createFrameBudget(2 * size),
        onFrame(line) {
          frames++
          received = line.length
        },
        onSkipped() {},
      })
      const done = new Promise<void>((resolve) => {
        channel.on('data', (chunk: Buffer) => {
          reader.push(chunk)
          if (frames > 0) resolve()
        })
      })
      channel.write(`${size}\n`)
      await done
      expect([frames, received]).toEqual([1, size])
    })

    test('much in both directions at once does not lock up', async () => {
      await using program = await rig.start('echo')
      await using channel = await program.open()
      const block = Buffer.alloc(megabyte, 'both ways ')
      const hashes = [createHash('sha1'), createHash('sha1')] as const
      const writing = (async () => {
        for (let at = 0; at < 20; at++) {
          hashes[0].update(block)
          await write(channel, block)
        }
      })()
      let left = 20 * megabyte
      for await (const chunk of channel.iterator({ destroyOnReturn: false })) {
        hashes[1].update(chunk)
        left -= chunk.length
        if (left === 0) break
      }
      await writing
      expect(hashes[1].digest('hex')).toBe(hashes[0].digest('hex'))
    })

    test('a package that never reads stops the writer, not the reader', async () => {
      await using program = await rig.start('deaf')
      await using channel = await program.open()
      const block = Buffer.alloc(65_536, 'x')
      const ticks = async (count: number) => {
        for (let line = 0; line < count; line++) expect(await readLine(channel)).toMatch(/^tick \d+$/)
        return 'full'
      }
      let accepted = 0
      for (let state: unknown; state !== 'full'; accepted += block.length) {
        if (!channel.write(block)) state = await Promise.race([once(channel, 'drain'), ticks(30)])
      }
      expect(accepted).toBeLessThan(16 * megabyte)
      await ticks(30)
      expect(channel.writableNeedDrain).toBe(true)
    })

    test('a reader that does not read holds back the package, and nothing is lost', async () => {
      await using program = await rig.start('flood')
      await using channel = await program.open()
      const count = 30_000
      channel.write(`${count}\n`)
      expect(await readLine(channel)).toMatch(/^0 x/)
      expect(await settledLength(channel)).toBeLessThan(megabyte)
      for (let line = 1; line < count; line++) {
        expect(await readLine(channel)).toBe(`${line} ${'x'.repeat(1_000)}`)
      }
    })

    test('letting go of the channel leaves the package running', async () => {
      await using program = await rig.start('counter')
      for (let life = 1; life <= 3; life++) {
        const channel = await program.open()
        await write(channel, `life ${life}\n`)
        expect(await readLine(channel)).toBe(`${life} life ${life}`)
        channel.destroy()
        await once(channel, 'close')
      }
    })

    const waitsForTheNext = async () => {
      await using program = await rig.start('produce')
      const first = await program.open()
      first.write('1000\n')
      await once(first, 'readable')
      await new Promise<void>((resolve, reject) => first.write('3000000\n', (error) => (error ? reject(error) : resolve())))
      expect((await readLine(first)).length).toBe(1000)
      first.destroy()
      await once(first, 'close')
      await using second = await program.open()
      second.write('7\n')
      const rest = await readLine(second)
      expect(rest.length).toBeLessThanOrEqual(3_000_000)
      expect(rest.length).toBeGreaterThan(2_000_000)
      expect(await readLine(second)).toBe('abcdefg')
    }
    if (keepsOutput) test('what is written while nobody has the channel waits for the next one', waitsForTheNext)

    test('a daemon that is killed in the middle of a line: the next one goes on after a newline', async () => {
      await using program = await rig.start('counter')
      const args = [join(import.meta.dirname, 'dyingDaemon.ts'), JSON.stringify(program.address)]
      const daemon = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const [answer] = await once(daemon.stdout, 'data')
      expect(String(answer)).toBe('1 first of the dead one\n')
      daemon.kill('SIGKILL')
      await once(daemon, 'exit')
      await using channel = await openChannel(program.address)
      channel.write('\nfirst of the next one\n')
      expect(await readLine(channel)).toBe('2 {"half":"a li')
      expect(await readLine(channel)).toBe('3 first of the next one')
    })
  })
})
