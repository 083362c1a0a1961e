// Starts processes until it may not, says how many there were.
import { spawn } from 'node:child_process'

const children = []
const most = Number(process.argv[2])
const again = () => {
  if (children.length >= most) return say()
  const child = spawn('/bin/sh', ['-c', 'sleep 60'], { stdio: 'ignore' })
  child.once('spawn', () => {
    children.push(child)
    again()
  })
  child.once('error', say)
}
const say = () => process.stdout.write(`${JSON.stringify({ started: children.length })}\n`)
again()
process.stdin.resume()
