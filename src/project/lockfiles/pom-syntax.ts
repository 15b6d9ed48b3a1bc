import { Parser } from 'htmlparser2'
import type { ProjectFile } from '../locked-package.ts'
import { countLines, createLockfileError } from './parse-syntax.ts'

/** An element of a `pom.xml`. */
export class PomElement {
  readonly name: string
  text = ''
  readonly #children = new Map<string, PomElement[]>()

  constructor(name: string) {
    this.name = name
  }

  append(child: PomElement): void {
    const sameName = this.#children.get(child.name)
    if (sameName === undefined) this.#children.set(child.name, [child])
    else sameName.push(child)
  }

  /** The first child with a name. */
  find(name: string): PomElement | undefined {
    return this.#children.get(name)?.[0]
  }

  /** All elements at a path of names. */
  children(...path: readonly string[]): PomElement[] {
    const [name = '', ...rest] = path
    const found = this.#children.get(name) ?? []
    return rest.length === 0 ? found : found.flatMap((child) => child.children(...rest))
  }
}

const MAX_DEPTH = 100

/** Parses an XML file of Maven and returns its outermost element, which must have a name. Entities that the file defines are not resolved. */
export function parsePomSyntax(file: ProjectFile, rootName = 'project'): PomElement {
  const top = new PomElement('')
  const open = [top]
  const parser = new Parser(
    {
      onopentag(name) {
        if (open.length > MAX_DEPTH) throw fail('its elements are nested too deeply')
        const element = new PomElement(name)
        open.at(-1)?.append(element)
        open.push(element)
      },
      ontext(text) {
        const element = open.at(-1)
        if (element !== undefined) element.text += text
      },
      onclosetag(name, isImplied) {
        // The parser closes by itself `<a/>`, what is open at the end, and elements that another end tag closes.
        if (isImplied && file.text[parser.endIndex - 1] !== '/')
          throw fail(`the element ${name.slice(0, 50)} has no end`)
        open.pop()
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  function fail(problem: string): Error {
    return createLockfileError(file, problem, { line: countLines(file.text, parser.startIndex) })
  }
  parser.end(file.text)
  const root = top.find(rootName)
  if (root === undefined) throw createLockfileError(file, `it has no ${rootName} element`)
  return root
}
