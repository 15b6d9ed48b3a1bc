/** A line `key = value` of an INI file. */
export interface IniEntry {
  /** Name of the section, in lower case; empty before the first one. */
  readonly section: string
  readonly key: string
  readonly value: string
  readonly line: number
}

/** The content of an INI file. */
export interface IniFile {
  readonly entries: readonly IniEntry[]
  /** Number of the first line that is neither a section nor an entry; undefined if there is none. */
  readonly badLine?: number
}

/** How programs write INI files. */
export interface IniDialect {
  /** Whether a line that begins with spaces continues the value before, as in the settings of pip. npm has no such lines. */
  readonly hasContinuedLines: boolean
  /** Separator of keys and values. */
  readonly separator: RegExp
}

/** Parses an INI file. */
export function parseIni(text: string, { hasContinuedLines, separator }: IniDialect): IniFile {
  const entries: IniEntry[] = []
  let section = ''
  let badLine: number | undefined
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const content = raw.trim()
    if (content === '' || /^[;#]/.test(content)) continue
    const last = entries.at(-1)
    if (hasContinuedLines && /^\s/.test(raw) && last !== undefined) {
      entries[entries.length - 1] = { ...last, value: `${last.value}\n${content}`.trim() }
      continue
    }
    const [, name] = /^\[([^\]]*)\]$/.exec(content) ?? []
    const at = content.search(separator)
    if (name !== undefined) section = name.trim().toLowerCase()
    else if (at > 0) {
      const key = content.slice(0, at).trim()
      entries.push({ section, key, value: content.slice(at + 1).trim(), line: index + 1 })
    } else badLine ??= index + 1
  }
  return { entries, ...(badLine === undefined ? {} : { badLine }) }
}
