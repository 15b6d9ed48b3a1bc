/** A token of an RTF file. */
export type RtfToken =
  | { readonly type: 'open' | 'close' }
  /** A control word with its optional number. */
  | { readonly type: 'word'; readonly name: string; readonly value: number | undefined }
  /** A control symbol: the character after the backslash. */
  | { readonly type: 'symbol'; readonly name: string }
  /** Text as bytes in the current code page. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }

const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/** Splits an RTF file into tokens. Line breaks in the file are ignored, and declared binary data is skipped. */
export function* tokenizeRtf(bytes: Uint8Array): Generator<RtfToken, void, void> {
  let at = 0
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === OPEN || byte === CLOSE) {
      yield { type: byte === OPEN ? 'open' : 'close' }
      at++
    } else if (byte === BACKSLASH) {
      const control = readControl(bytes, at + 1)
      yield control.token
      at = control.end
    } else if (byte === 0x0d || byte === 0x0a || byte === 0) at++
    else {
      const start = at
      while (at < bytes.length && isText(bytes[at] ?? 0)) at++
      yield { type: 'bytes', bytes: bytes.subarray(start, at) }
    }
  }
}

function isText(byte: number): boolean {
  return byte !== OPEN && byte !== CLOSE && byte !== BACKSLASH && byte !== 0x0d && byte !== 0x0a && byte !== 0
}

/** Maximum length of a control word. */
const MAX_WORD = 32
const MAX_DIGITS = 10

function readControl(bytes: Uint8Array, start: number): { readonly token: RtfToken; readonly end: number } {
  let at = start
  while (at - start < MAX_WORD && isLetter(bytes[at] ?? 0)) at++
  if (at === start) return readSymbol(bytes, start)
  const name = String.fromCharCode(...bytes.subarray(start, at))
  const digits = at
  if (bytes[at] === 0x2d && isDigit(bytes[at + 1] ?? 0)) at++
  while (at - digits < MAX_DIGITS && isDigit(bytes[at] ?? 0)) at++
  const value = at === digits ? undefined : Number(String.fromCharCode(...bytes.subarray(digits, at)))
  // One space ends a control word and belongs to it.
  if (bytes[at] === 0x20) at++
  if (name === 'bin' && value !== undefined && value > 0) at += value
  return { token: { type: 'word', name, value }, end: at }
}

function readSymbol(bytes: Uint8Array, at: number): { readonly token: RtfToken; readonly end: number } {
  const name = String.fromCharCode(bytes[at] ?? 0)
  if (name !== "'") return { token: { type: 'symbol', name }, end: at + 1 }
  const code = Number.parseInt(String.fromCharCode(...bytes.subarray(at + 1, at + 3)), 16)
  const found = Number.isNaN(code) ? new Uint8Array() : Uint8Array.of(code)
  return { token: { type: 'bytes', bytes: found }, end: at + 3 }
}

function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** Groups whose text does not belong to the document. */
export const SKIPPED_DESTINATIONS: RegExp =
  /^(?:colortbl|pict|header[lrf]?|footer[lrf]?|list(?:override)?table|revtbl|rsidtbl|generator|filetbl|nonshppict|nonesttables|object|objdata|annotation|atn\w+|bkmk\w+|tc|tcn|xe|ftnsepc?|ftncn|aftnsepc?|aftncn|pgdsctbl|operator|company|subject|keywords|comment|doccomm|category|manager|creatim|printim|buptim|hlinkbase|fldtype|template|themedata|sp|shprslt|mmathPr)$/

export const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
  ['~', '\u00a0'],
  ['_', '-'],
  ['\t', '\t'],
])

export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['lbr', '\n'],
  ['emdash', '—'],
  ['endash', '–'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
])
