// Writes as many lines to stderr as its first argument says, each as long as its second, then one more for each line on stdin.
const [count = '0', length = '0'] = process.argv.slice(2)
const say = (number) => process.stderr.write(`${`line ${number} `.padEnd(Number(length), '.')}\n`)
for (let number = 1; number <= Number(count); number++) say(number)
process.stdout.write('said\n')
let next = Number(count)
process.stdin.on('data', (chunk) => {
  for (const _ of chunk.toString().matchAll(/\n/g)) say(++next)
})
