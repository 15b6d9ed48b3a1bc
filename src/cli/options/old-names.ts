/** Adds the old snake_case name of each property to a JSON value, such as `heading_path` beside `headingPath`. Kept for one version. */
export function withOldNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOldNames)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, part]) => [name, withOldNames(part)] as const)
  const old = entries.filter(([name]) => CAPITAL.test(name)).map(([name, part]) => [writeSnake(name), part] as const)
  return Object.fromEntries([...entries, ...old])
}

const CAPITAL = /[A-Z]/

function writeSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
