/** The middle of the values; of an even number, the mean of the two middles. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export interface Row {
  readonly name: string
  /** One value a round. */
  readonly values: readonly number[]
}

/** Prints each row's median and range, then the ratio of the first to the second from the rounds' own pairs, beside its limit. */
export function printComparison(
  unit: string,
  ours: Row,
  theirs: Row,
  limit: { readonly atMost?: number; readonly atLeast?: number },
): void {
  for (const row of [ours, theirs]) printRow(unit, row)
  const ratios = ours.values.map((value, round) => value / (theirs.values[round] ?? Number.NaN))
  const bound = limit.atMost === undefined ? `at least ${limit.atLeast}` : `at most ${limit.atMost}`
  const ratio = median(ratios)
  const holds = limit.atMost === undefined ? ratio >= (limit.atLeast ?? 0) : ratio <= limit.atMost
  console.log(
    `  ratio ${ours.name} / ${theirs.name}: ${ratio.toFixed(2)} (limit: ${bound}; ${holds ? 'holds' : 'DOES NOT HOLD'}; ${ratios.length} rounds)`,
  )
}

/** Prints one row and whether its median keeps within a limit. */
export function printLimit(unit: string, row: Row, atMost: number): void {
  printRow(unit, row)
  const value = median(row.values)
  console.log(`  limit: at most ${atMost} ${unit}; ${value <= atMost ? 'holds' : 'DOES NOT HOLD'}; ratio ${(value / atMost).toFixed(2)}`)
}

export function printRow(unit: string, { name, values }: Row): void {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  console.log(`  ${name.padEnd(44)} median ${format(median(values))} ${unit}  (${format(low)} - ${format(high)}, n=${values.length})`)
}

const format = (value: number) => (Math.abs(value) < 10 ? value.toFixed(3) : value.toFixed(1)).padStart(9)

/** Milliseconds that `body` took. */
export async function timed(body: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await body()
  return performance.now() - start
}
