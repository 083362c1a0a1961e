// Ends by the signal that is its first argument, after a first line on stdin.
process.stdin.once('data', () => process.kill(process.pid, process.argv[2]))
