const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** Parses a number of bytes: `1048576`, `512 KB`, `10MB`, `1.5 GiB`. A kilobyte is 1,024 bytes. Undefined for other text. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,3})?)\s?(?:([kmg])i?b?|b)?$/i.exec(text.trim())
  if (match === null) return undefined
  const bytes = Number(match[1]) * (UNITS[(match[2] ?? '').toLowerCase()] ?? 1)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Writes a number of bytes for people: `812 B`, `1.4 KB`, `10 MB`. */
export function writeBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1
  return `${value.toFixed(digits).replace(/\.0$/, '')} ${units[unit]}`
}
