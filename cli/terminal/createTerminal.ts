import { createInterface } from 'node:readline'
import type { Terminal } from '../command.ts'

/** The real terminal: questions and progress on stderr, so that stdout holds the answer alone. */
export function createTerminal(json: boolean): Terminal {
  const { stdin, stderr } = process
  const live = stderr.isTTY === true
  let shown = false
  const clear = () => {
    if (shown) stderr.write('\r\x1b[K')
    shown = false
  }
  return {
    interactive: live && stdin.isTTY === true && !json,
    json,
    async confirm(question) {
      clear()
      const answer = await ask(`${question} [y/N] `)
      return /^y(es)?$/i.test(answer.trim())
    },
    async readSecret(label) {
      clear()
      return stdin.isTTY ? askHidden(`${label}: `) : readAll()
    },
    progress(line) {
      if (!live) return
      clear()
      if (line === null) return
      stderr.write(line.slice(0, Math.max(20, (stderr.columns ?? 80) - 1)))
      shown = true
    },
    note(line) {
      clear()
      stderr.write(`${line}\n`)
    },
  }
}

function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    lines.question(question, (answer) => {
      lines.close()
      resolve(answer)
    })
    lines.once('close', () => resolve(''))
  })
}

function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  return new Promise((resolve, reject) => {
    let typed = ''
    const finish = (done: () => void) => {
      stdin.setRawMode(false)
      stdin.pause()
      stdin.off('data', onData)
      stderr.write('\n')
      done()
    }
    const onData = (chunk: string) => {
      for (const key of chunk) {
        if (key === '\r' || key === '\n') return finish(() => resolve(typed))
        if (key === '\x03') return finish(() => reject(new DOMException('Interrupted', 'AbortError')))
        typed = key === '\x7f' || key === '\b' ? typed.slice(0, -1) : typed + key
      }
    }
    stdin.on('data', onData)
    stdin.resume()
  })
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
