// Ends with the code that is its first argument, its other arguments on stderr.
const [code = '0', ...words] = process.argv.slice(2)
if (words.length > 0) process.stderr.write(`${words.join(' ')}\n`)
process.exitCode = Number(code)
