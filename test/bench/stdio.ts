import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { createSandboxRig } from '../contract/stdio/rigs.ts'
import { missing } from '../provision/requirements.ts'
import { median, printComparison, type Row } from './measure/figures.ts'

export const title = 'stdio into a container that echoes 100-byte lines: named pipes against a bare child and engine attach'

const rounds = 201
const tripsInRound = 100
const line = `${'x'.repeat(99)}\n`

interface Side {
  readonly name: string
  readonly write: Writable
  readonly read: Readable
}

/** The median of that many round trips, one after the other, in milliseconds: a trip during which the machine did something else does not count for more. */
async function measure({ write, read }: Side, trips: number): Promise<number> {
  const times: number[] = []
  await new Promise<void>((resolve) => {
    let received = 0
    let sentAt = performance.now()
    const onData = (chunk: Buffer) => {
      received += chunk.length
      if (received < line.length) return
      received -= line.length
      const now = performance.now()
      times.push(now - sentAt)
      sentAt = now
      if (times.length < trips) write.write(line)
      else {
        read.off('data', onData)
        resolve()
      }
    }
    read.on('data', onData)
    write.write(line)
  })
  return median(times)
}

export async function run(): Promise<void> {
  const reason = await missing('docker')
  if (reason !== null) {
    console.log(`  skipped: ${reason}`)
    return
  }
  await using pipesRig = await createSandboxRig('docker pipes')
  await using attachRig = await createSandboxRig('docker attach')
  await using piped = await pipesRig.start('echo')
  await using attached = await attachRig.start('echo')
  const program = join(import.meta.dirname, '../fixtures/programs/stdioProgram.mjs')
  const child: ChildProcess = spawn(process.execPath, [program, 'echo'], { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    if (!child.stdin || !child.stdout) throw new Error('The child has no pipes')
    await using pipes = await piped.open()
    await using attach = await attached.open()
    const sides: Side[] = [
      { name: 'bare child, pipe', write: child.stdin, read: child.stdout },
      { name: 'container, named pipes', write: pipes, read: pipes },
      { name: 'container, engine attach', write: attach, read: attach },
    ]
    for (const side of sides) await measure(side, 500)
    const figures = sides.map(() => [] as number[])
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < sides.length; turn++) {
        const index = (turn + round) % sides.length
        const side = sides[index]
        if (side) figures[index]?.push(await measure(side, tripsInRound))
      }
    }
    const [bare, pipe, attachRow] = sides.map(({ name }, index): Row => ({ name, values: figures[index] ?? [] }))
    if (!bare || !pipe || !attachRow) return
    console.log(`  ${rounds} rounds of ${tripsInRound} round trips each, interleaved`)
    printComparison('ms', pipe, bare, { atMost: 3 })
    printComparison('ms', attachRow, pipe, { atLeast: 2 })
  } finally {
    child.kill('SIGKILL')
  }
}
