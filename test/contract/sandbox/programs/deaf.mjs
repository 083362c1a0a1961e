// Takes no notice of SIGTERM; says when it has begun not to.
process.on('SIGTERM', () => process.stderr.write('SIGTERM ignored\n'))
process.stdin.resume()
process.stdout.write('deaf\n')
