import { createEnvelopeScanner, type Envelope, type EnvelopeScanner } from './envelopeScanner.ts'
import type { FrameBudget } from './frameBudget.ts'

/** A frame that was not kept: over its own limit, or over the budget of all unfinished frames together. */
export interface SkippedFrame {
  readonly envelope: Envelope
  readonly bytes: number
  readonly over: 'limit' | 'budget'
}

export interface FrameReaderOptions {
  /** A frame longer than this is skipped without being kept. */
  readonly maxFrameBytes: number
  readonly budget: FrameBudget
  /** A line, without its newline. It may share memory with what was read: copy what is to be changed. */
  readonly onFrame: (line: Buffer) => void
  readonly onSkipped: (frame: SkippedFrame) => void
}

export interface FrameReader {
  push(chunk: Buffer): void
  /** Gives back what an unfinished frame holds; what comes after is dropped. */
  close(): void
}

const newline = 0x0a

/** What an unfinished frame may hold before it counts towards the budget: as much as one read brings. */
const freeBytes = 65_536

/** Pieces smaller than this are joined a thousand at a time: a frame that comes byte by byte must not cost an object a byte. */
const smallBytes = 4_096
const maxSmall = 1_024

/** Cuts a byte stream into newline-delimited frames. The pieces of a frame are collected and joined at its end. */
export function createFrameReader({ maxFrameBytes, budget, onFrame, onSkipped }: FrameReaderOptions): FrameReader {
  let pieces: Buffer[] = []
  let small: Buffer[] = []
  let length = 0
  let charged = 0
  let isOpen = true
  let skipping: { scanner: EnvelopeScanner; over: SkippedFrame['over'] } | null = null

  const forget = () => {
    budget.release(charged)
    pieces = []
    small = []
    length = 0
    charged = 0
    skipping = null
  }

  const joinSmall = () => {
    if (small.length > 0) pieces.push(Buffer.concat(small))
    small = []
  }

  const keep = (piece: Buffer) => {
    if (piece.length < smallBytes) {
      small.push(piece)
      if (small.length >= maxSmall) joinSmall()
    } else {
      joinSmall()
      pieces.push(piece)
    }
  }

  const skip = (over: SkippedFrame['over']) => {
    const scanner = createEnvelopeScanner()
    joinSmall()
    for (const piece of pieces) scanner.push(piece)
    budget.release(charged)
    pieces = []
    charged = 0
    skipping = { scanner, over }
    return skipping
  }

  /** Takes a piece of the frame under way; true while the frame is kept. */
  const add = (piece: Buffer) => {
    length += piece.length
    if (skipping === null && length > maxFrameBytes) skip('limit')
    if (skipping === null && length > freeBytes) {
      const due = length - charged
      if (budget.take(due)) charged += due
      else skip('budget')
    }
    if (skipping === null) keep(piece)
    else skipping.scanner.push(piece)
  }

  const finish = (piece: Buffer) => {
    if (length === 0 && piece.length <= maxFrameBytes) {
      onFrame(piece)
      return
    }
    if (piece.length > 0) add(piece)
    const skipped = skipping === null ? null : { envelope: skipping.scanner.envelope, bytes: length, over: skipping.over }
    joinSmall()
    const line = skipped === null ? Buffer.concat(pieces, length) : null
    forget()
    if (skipped !== null) onSkipped(skipped)
    if (line !== null) onFrame(line)
  }

  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(newline); end !== -1 && isOpen; end = chunk.indexOf(newline, start)) {
        finish(chunk.subarray(start, end))
        start = end + 1
      }
      if (start < chunk.length && isOpen) add(chunk.subarray(start))
    },
    close() {
      isOpen = false
      forget()
    },
  }
}
