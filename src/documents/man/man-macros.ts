import { escapeHtml } from '../../core/html/escape.ts'
import { safeAddress, writeCode } from '../markup.ts'
import { addHeading, addRuns, type MacroContext, type MacroSet } from './page.ts'
import type { RoffLine } from './roff.ts'
import { writeTbl } from './tables.ts'
import { type Font, plainRuns, type Run, type Runs, TextReader, writeRuns } from './text.ts'

type Macro = (args: readonly string[], rest: string) => void

const BULLETS = new Set(['•', '*', '-', '–', '—', '+', 'o', '·', '∗', '□', '○', '.'])

/**
 * The macros of man(7), and the roff requests that pages use with them.
 *
 * One piece: a table with a short entry for each macro, all on the same state of the page.
 */
export function createManMacros(context: MacroContext): MacroSet {
  const { reader, text, flow, facts } = context
  /** If set, this function receives the next line of text instead of the paragraph. */
  let next: ((line: Runs) => void) | undefined
  let link: string | undefined

  const add = ({ runs, isJoined }: Runs) => {
    const receive = next
    next = undefined
    if (receive !== undefined) receive({ runs, isJoined })
    else addRuns(flow, runs, isJoined)
  }
  const paragraph = () => {
    text.reset()
    if (flow.isCode) flow.endParagraph()
    else flow.endList()
  }
  /** Alternates words between two fonts, without spaces. */
  const alternate = (first: Font, second: Font): Macro => {
    return (args) => add(readAlternating(args, first, second))
  }
  const inFont = (font: Font): Macro => {
    return (_, rest) => {
      if (rest !== '') add(readInFont(rest, font))
      else
        next = ({ runs, isJoined }) =>
          addRuns(
            flow,
            runs.map((run) => ({ ...run, font })),
            isJoined,
          )
    }
  }
  const heading = (level: number): Macro => {
    return (args) => {
      if (args.length > 0) addHeading(context, level, args.join(' '))
      else next = ({ runs }) => addHeading(context, level, plainRuns(runs))
    }
  }
  const item = (html: string, plain: string) => {
    const [, number] = /^[[(]?(\d{1,4})[.)\]]?$/.exec(plain) ?? []
    if (BULLETS.has(plain)) flow.bullet()
    else if (number !== undefined) flow.bullet(Number(number))
    else flow.term(html)
  }
  const tag: Macro = () => {
    text.reset()
    flow.endCode()
    flow.endParagraph()
    next = ({ runs }) => item(writeRuns(runs).trim(), plainRuns(runs).trim())
  }
  const startLink: Macro = ([address = '']) => {
    link = plainRuns(text.read(address).runs)
    flow.text(`<a href="${escapeHtml(safeAddress(link))}">`, '', true)
  }
  const endLink: Macro = ([after = '']) => {
    if (link === undefined) return
    flow.text(`${escapeHtml(link)}</a>${escapeHtml(after)}`, `${link}${after}`)
    link = undefined
  }
  const macros: Readonly<Record<string, Macro>> = {
    TH: ([name = '', section = '', date = '']) => {
      Object.assign(facts, { name: readPlain(name), section, date: readPlain(date) })
    },
    SH: heading(2),
    SS: heading(3),
    PP: paragraph,
    LP: paragraph,
    P: paragraph,
    HP: paragraph,
    TP: tag,
    TQ: tag,
    IP: ([mark = '']) => {
      text.reset()
      const { runs } = text.read(mark)
      const plain = plainRuns(runs).trim()
      flow.endCode()
      flow.endParagraph()
      if (plain !== '') item(writeRuns(runs).trim(), plain)
    },
    RS: () => flow.open(),
    RE: () => flow.close(),
    B: inFont('B'),
    SB: inFont('B'),
    I: inFont('I'),
    R: inFont('R'),
    C: inFont('C'),
    SM: inFont('R'),
    BR: alternate('B', 'R'),
    RB: alternate('R', 'B'),
    IR: alternate('I', 'R'),
    RI: alternate('R', 'I'),
    BI: alternate('B', 'I'),
    IB: alternate('I', 'B'),
    CR: alternate('C', 'R'),
    RC: alternate('R', 'C'),
    MR: ([name = '', section = '', after = '']) => add(readAlternating([name, `(${section})${after}`], 'B', 'R')),
    OP: ([option = '', value]) =>
      add(readAlternating(value === undefined ? ['[', option, ']'] : ['[', option, ' ', value, ']'], 'R', 'B')),
    SY: ([name = '']) => {
      flow.endParagraph()
      add(readInFont(name, 'B'))
    },
    YS: () => flow.endParagraph(),
    UR: startLink,
    UE: endLink,
    MT: (args) => startLink([`mailto:${args[0] ?? ''}`], ''),
    ME: endLink,
    URL: ([address = '', words = '', after = '']) => {
      const plain = readPlain(address)
      const label = words === '' ? plain : readPlain(words)
      const html = `<a href="${escapeHtml(safeAddress(plain))}">${escapeHtml(label)}</a>${escapeHtml(readPlain(after))}`
      flow.text(html, label + readPlain(after))
    },
    EX: () => flow.startCode(),
    EE: () => flow.endCode(),
    nf: () => flow.startCode(),
    fi: () => flow.endCode(),
    Vb: () => flow.startCode(),
    Ve: () => flow.endCode(),
    Sp: () => flow.endParagraph(),
    sp: () => flow.endParagraph(),
    br: () => flow.breakLine(),
    ft: ([font = '']) => text.setFont(font),
    TS: () => flow.block(writeTbl(reader.takeUntil('TE'), writeCell)),
    EQ: () => flow.block(writeCode(reader.takeUntil('EN').join('\n'))),
  }
  const isKnown = (name: string) => Object.hasOwn(macros, name)
  return {
    isKnown,
    write(line: RoffLine) {
      if (line.type === 'macro') {
        if (isKnown(line.name)) macros[line.name]?.(line.args, line.rest)
      } else if (line.text === '') flow.endParagraph()
      else add(text.read(line.text))
    },
  }
}

function readInFont(source: string, font: Font): Runs {
  const reader = new TextReader()
  reader.setFont(font)
  // A quoted argument is text without its quotation marks.
  return reader.read(/^".*"$/.test(source) ? source.slice(1, -1).replaceAll('""', '"') : source)
}

function readAlternating(args: readonly string[], first: Font, second: Font): Runs {
  const runs: Run[] = []
  let isJoined = false
  for (const [i, arg] of args.entries()) {
    const read = readInFont(arg, i % 2 === 0 ? first : second)
    runs.push(...read.runs)
    isJoined = read.isJoined
  }
  return { runs, isJoined }
}

function readPlain(source: string): string {
  return plainRuns(new TextReader().read(source).runs).trim()
}

/** The text of a cell, which may contain font macros. */
function writeCell(lines: readonly string[]): string {
  const reader = new TextReader()
  const parts: string[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^\.\s*([A-Za-z]{1,2})\s+(.*)$/.exec(line) ?? []
    const [first, second] = name
    if (name === 'B' || name === 'I') parts.push(writeRuns(readInFont(rest, name).runs))
    else if (/^[BIR]{2}$/.test(name))
      parts.push(writeRuns(readAlternating(rest.split(/\s+/), asFont(first), asFont(second)).runs))
    else if (!/^[.']/.test(line)) parts.push(writeRuns(reader.read(line).runs))
    else if (/^\.(?:br|sp|PP)\b/.test(line)) parts.push('<br>')
  }
  return parts.join(' ').trim()
}

function asFont(name: string | undefined): Font {
  return name === 'B' || name === 'I' ? name : 'R'
}
