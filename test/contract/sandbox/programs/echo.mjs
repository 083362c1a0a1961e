// Answers each line with itself, for as long as it lives.
process.stdin.pipe(process.stdout)
