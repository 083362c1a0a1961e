// Takes memory until it is killed for it.
const held = []
setInterval(() => held.push(Buffer.alloc(8 << 20, 1)), 1)
