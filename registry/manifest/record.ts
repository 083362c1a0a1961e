/** A JSON object whose keys are not known yet. */
export type UnknownRecord = { readonly [key: string]: unknown }

export const isRecord = (value: unknown): value is UnknownRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value as an object, or an empty one when it is none. */
export const recordOf = (value: unknown): UnknownRecord => (isRecord(value) ? value : {})

/** The strings of a list; an empty list when the value is none. Positions are kept for pointers. */
export const stringsOf = (value: unknown): readonly { readonly index: number; readonly text: string }[] =>
  Array.isArray(value) ? value.flatMap((text: unknown, index) => (typeof text === 'string' ? [{ index, text }] : [])) : []
