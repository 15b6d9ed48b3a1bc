import { BRACKETS, ENCLOSING, MACRO_STYLES, SYSTEMS, writeArguments } from './mdoc-arguments.ts'
import { addHeading, type MacroContext, type MacroSet } from './page.ts'
import type { RoffLine } from './roff.ts'
import { plainRuns, writeRuns } from './text.ts'

interface OpenList {
  readonly kind: string
  count: number
}

/**
 * The macros of mdoc(7).
 *
 * One piece: a table with a short entry for each macro, all on the same state of the page.
 */
export function createMdocMacros(context: MacroContext): MacroSet {
  const { flow, text, facts } = context
  const lists: OpenList[] = []
  /** For each open display, whether it is code. */
  const displays: boolean[] = []
  let rows: string[][] = []
  let isSynopsis = false

  const write = (args: readonly string[], isJoined = false) => {
    const { html, plain } = writeArguments(args, facts)
    flow.text(html, plain, isJoined)
  }
  const item = (args: readonly string[]) => {
    const list = lists.at(-1)
    if (list === undefined) return
    list.count++
    switch (list.kind) {
      case 'bullet':
      case 'dash':
      case 'hyphen':
      case 'item':
        return flow.bullet()
      case 'enum':
        return flow.bullet(list.count)
      case 'column':
        rows.push(splitCells(args).map((cell) => writeArguments(cell, facts).html))
        return
      default:
        return flow.term(writeArguments(args, facts).html.trim())
    }
  }
  const endList = () => {
    const list = lists.pop()
    if (list === undefined) return
    if (list.kind === 'column') {
      flow.block(
        `<table>\n${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>\n`).join('')}</table>\n`,
      )
      rows = []
    }
    flow.close()
  }
  const macros: Readonly<Record<string, (args: readonly string[]) => void>> = {
    Dd: (args) => {
      facts.date = args.join(' ')
    },
    Dt: ([name = '', section = '']) => {
      facts.section = section
      facts.name ||= name
    },
    Os: () => {},
    Sh: (args) => {
      lists.length = 0
      isSynopsis = args[0] === 'SYNOPSIS'
      addHeading(context, 2, writeArguments(args, facts).plain)
    },
    Ss: (args) => {
      lists.length = 0
      addHeading(context, 3, writeArguments(args, facts).plain)
    },
    Pp: () => flow.endParagraph(),
    Lp: () => flow.endParagraph(),
    sp: () => flow.endParagraph(),
    br: () => flow.breakLine(),
    Bl: (args) => {
      flow.endParagraph()
      flow.open()
      lists.push({
        kind:
          args
            .find((arg) => /^-[a-z]{4,}$/.test(arg) && arg !== '-compact' && arg !== '-offset' && arg !== '-width')
            ?.slice(1) ?? 'tag',
        count: 0,
      })
    },
    El: endList,
    It: item,
    Bd: (args) => {
      const isCode = args.includes('-literal') || args.includes('-unfilled')
      displays.push(isCode)
      flow.endParagraph()
      if (isCode) flow.startCode()
    },
    Ed: () => {
      if (displays.pop() === true) flow.endCode()
      else flow.endParagraph()
    },
    D1: (args) => {
      flow.endParagraph()
      write(args)
      flow.endParagraph()
    },
    Dl: (args) => {
      flow.startCode()
      write(args)
      flow.endCode()
    },
    Nd: (args) => {
      flow.text('— ', '- ', true)
      write(args)
    },
    Nm: (args) => {
      if (facts.name === '' || facts.name === facts.name.toUpperCase()) facts.name = args[0] ?? facts.name
      // In the synopsis the macro starts another way to call the program.
      if (isSynopsis) flow.endParagraph()
      write(['Nm', ...args])
    },
    nf: () => flow.startCode(),
    fi: () => flow.endCode(),
    Rs: () => flow.endParagraph(),
    Re: () => flow.endParagraph(),
  }
  const isInline = (name: string) =>
    Object.hasOwn(MACRO_STYLES, name) ||
    Object.hasOwn(ENCLOSING, name) ||
    Object.hasOwn(BRACKETS, name) ||
    Object.hasOwn(SYSTEMS, name)
  return {
    isKnown: (name) => Object.hasOwn(macros, name) || isInline(name) || /^%[A-Z]$/.test(name),
    write(line: RoffLine) {
      if (line.type === 'text') {
        const { runs, isJoined } = text.read(line.text)
        if (line.text === '') flow.endParagraph()
        else flow.text(writeRuns(runs), plainRuns(runs), isJoined)
      } else if (Object.hasOwn(macros, line.name)) macros[line.name]?.(line.args)
      else if (line.name === 'In' && isSynopsis) {
        flow.breakLine()
        write(['Li', `#include <${line.args[0] ?? ''}>`])
        flow.breakLine()
      } else if (isInline(line.name)) write([line.name, ...line.args])
      // Parts of a reference: author, title, publication.
      else if (/^%[A-Z]$/.test(line.name)) write([...line.args, ','])
      else if (line.name === 'Fo') write(['Fn', ...line.args])
    },
  }
}

function splitCells(args: readonly string[]): string[][] {
  const cells: string[][] = [[]]
  for (const arg of args) {
    const [first = '', ...others] = arg.split('\t')
    if (arg === 'Ta') cells.push([])
    else {
      if (first !== '') cells.at(-1)?.push(first)
      for (const other of others) cells.push(other === '' ? [] : [other])
    }
  }
  return cells
}
