import type { Element } from '../../html/tree.ts'
import { AMBIGUOUS_CODES, KNOWN_LANGUAGES } from './known-languages.ts'

/** Names that mean no language, or belong to the markup around code. */
const NO_LANGUAGE = new Set(
  `text plaintext plain txt none default auto nohighlight no-highlight undefined null unknown literal raw code block
  notranslate highlight highlighter highlighted hljs shiki prism sourcecode src numbersource numberlines linenums
  linenos wrap nowrap copyable prettyprinted prettyprint programlisting screen output source container wrapper pre
  line lines numbers line-numbers line-numbers-mode extra-class has-diff has-focused copy`.split(/\s+/),
)

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['python3', 'python'],
  ['py3', 'python'],
  ['ipython3', 'python'],
  ['shell-session', 'console'],
  ['c++', 'cpp'],
  ['golang', 'go'],
])

/** Classes that can only mean a language. Highlighted lines and other options may follow the name. */
const LANGUAGE_CLASS = /^(?:language|lang|highlight-source|highlight-text)-([\w+#.-]{1,30})(?:[{:[(,;]|$)/i
/** Classes that may mean a language, but often mean other things. */
const LIKELY_LANGUAGE_CLASS = /^(?:highlight|brush|src|code|syntax|sourcecode)[-:]([\w+#.-]{1,30})$/i
const NAME = /^[\w+#.-]{1,30}$/
/** Classes of highlighters. Beside one of them, a class that is the name of a language means that language. */
const HIGHLIGHTERS = new Set(['hljs', 'sourceCode', 'prettyprint', 'chroma', 'highlight', 'CodeRay', 'brush:', 'src'])

const MAX_WRAPPERS = 4

/** The language of a code element, named by the element itself, its first descendants or its surroundings; '' if none names one. */
export function languageOf(element: Element): string {
  let inner: Element | undefined = element
  for (let depth = 0; inner !== undefined && depth < MAX_WRAPPERS; depth++) {
    const own = ownLanguage(inner)
    if (own !== '') return own
    inner = firstCode(inner)
  }
  let outer = element.parent
  for (let depth = 0; outer !== undefined && depth < MAX_WRAPPERS; depth++) {
    const own = isWrapper(outer) ? ownLanguage(outer) : ''
    if (own !== '') return own
    outer = outer.parent
  }
  return ''
}

function firstCode(element: Element): Element | undefined {
  for (const child of element.elements()) if (child.name === 'code' || child.name === 'pre') return child
  return undefined
}

/** Whether an element can wrap a single code block. The classes of whole pages and articles say nothing about one block. */
function isWrapper(element: Element): boolean {
  return (
    element.name === 'div' ||
    element.name === 'figure' ||
    element.name === 'pre' ||
    element.name.includes('-') ||
    element.name === 'Tab'
  )
}

const ATTRIBUTES = ['data-lang', 'data-language', 'data-code-lang', 'lang-name', 'language']

function ownLanguage(element: Element): string {
  for (const name of ATTRIBUTES) {
    const language = canonicalName(element.attribute(name) ?? '')
    if (language !== '') return language
  }
  const isCode = element.name === 'pre' || element.name === 'code'
  return languageInClasses(element.classes, isCode) || (isCode ? languageInLang(element) : '')
}

function languageInClasses(classes: readonly string[], isCode: boolean): string {
  // Sphinx adds the class `notranslate` to code blocks. Beside it, a class `highlight-…` always names a language.
  const isSphinx = classes.includes('notranslate')
  for (const [i, name] of classes.entries()) {
    const certainName = name === 'brush:' ? (classes[i + 1] ?? '').replace(/;$/, '') : LANGUAGE_CLASS.exec(name)?.[1]
    const likelyName = LIKELY_LANGUAGE_CLASS.exec(name)?.[1] ?? ''
    const likelyLanguage = isSphinx ? canonicalName(likelyName) : knownLanguage(likelyName)
    const language = certainName === undefined ? likelyLanguage : canonicalName(certainName)
    if (language !== '') return language
  }
  if (!isCode || classes.length < 2 || !classes.some((name) => HIGHLIGHTERS.has(name))) return ''
  for (const name of classes) {
    const language = HIGHLIGHTERS.has(name) ? '' : knownLanguage(name)
    if (language !== '') return language
  }
  return ''
}

/** The programming language in `lang`, an attribute that is meant for spoken languages. */
function languageInLang(element: Element): string {
  const name = element.attribute('lang') ?? ''
  return AMBIGUOUS_CODES.has(name.toLowerCase()) ? '' : knownLanguage(name)
}

function knownLanguage(name: string): string {
  return KNOWN_LANGUAGES.has(name.toLowerCase()) ? canonicalName(name) : ''
}

function canonicalName(name: string): string {
  const lower = name
    .trim()
    .toLowerCase()
    .replace(/^(?:source|text|language|lang)-/, '')
  if (!NAME.test(lower) || !/[a-z]/.test(lower) || NO_LANGUAGE.has(lower)) return ''
  return ALIASES.get(lower) ?? lower
}
