import { HEADINGS, INLINE_ELEMENTS } from '../../html/element-names.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import type { Statistics, StatisticsMap } from '../content/statistics.ts'
import { drop } from '../drop.ts'
import { wordsIn } from './chrome-kind.ts'
import { CONTROLS, FEEDBACK } from './forms.ts'
import { BREADCRUMBS, NAVIGATION } from './navigation.ts'
import { SHARING } from './sharing.ts'

/** A longer block says more than these phrases. */
const MAX_CHARS = 120

interface Phrases {
  readonly reason: string
  /** Whether only a link counts: as a step of a list, "Edit the document" is an instruction. */
  readonly isLink: boolean
  /** Regular expressions of whole phrases. */
  readonly phrases: readonly string[]
}

const ANSWERS = '(?:[\\s|·•/👍👎]*(?:yes|no|ja|nein|oui|non|sí|sì|sim|não))*'

/** Phrases of blocks that are about the page and not part of it. Several phrases of one kind may follow one another in a block. */
const KINDS: readonly Phrases[] = [
  {
    reason: FEEDBACK.reason,
    isLink: false,
    phrases: [
      `(?:was|is) this (?:page|article|section|document|doc|topic|content|information|guide)? ?(?:helpful|useful)(?: to you)?\\?${ANSWERS}`,
      `did (?:this (?:page|article) help(?: you)?|you find this (?:page|article) (?:helpful|useful))\\?${ANSWERS}`,
      `(?:war diese seite hilfreich|cette page (?:vous )?a-t-elle été utile|¿te (?:ha sido|resultó) útil esta página|¿fue útil esta página|esta página foi útil|questa pagina (?:ti )?è stata utile)\\s?\\?${ANSWERS}`,
      'このページは役に立ちましたか？?|此页面(?:对你|对您)?有帮助吗？?|thanks for your feedback!?',
    ],
  },
  {
    reason: FEEDBACK.reason,
    isLink: true,
    phrases: [
      '(?:edit|improve|view|help improve) (?:this|the) (?:page|doc|document|article|source)(?: (?:on|in|at) \\w+)?|edit on \\w+|view (?:page )?source(?: on \\w+)?',
      'suggest (?:an )?edits?(?: (?:to|for) this page)?|open an issue|(?:report|raise) (?:an issue|a (?:bug|problem))(?: (?:on|with|about) (?:this page|\\w+))?|(?:send|give|provide) feedback(?: (?:on|about) this (?:page|article))?',
      'diese seite (?:bearbeiten|verbessern)|seite bearbeiten|problem melden|modifier cette page|éditer cette page|editar esta página|modifica questa pagina|このページを編集(?:する)?|编辑(?:此|本)页|编辑页面',
    ],
  },
  {
    reason: NAVIGATION.reason,
    isLink: true,
    phrases: [
      '[↑⬆^]?\\s*(?:back|return|go|scroll|jump) to (?:the )?top|top of (?:the )?page|(?:skip|jump) to(?: the)? (?:main )?(?:content|navigation|menu|search)',
      'nach oben|zum seitenanfang|zum (?:haupt)?inhalt(?: springen)?|(?:retour )?(?:en|vers le) haut(?: de (?:la )?page)?|aller au contenu(?: principal)?|volver arriba|(?:saltar|ir) al contenido(?: principal)?|torna su|vai al contenuto|voltar ao topo|pular para o conteúdo',
    ],
  },
  {
    reason: SHARING.reason,
    isLink: false,
    phrases: ['copy (?:page |permanent )?(?:link|url)(?: to clipboard)?', 'share this (?:page|article|post)'],
  },
  {
    reason: CONTROLS.reason,
    isLink: false,
    phrases: ['your (?:shopping )?(?:cart|bag|basket) is (?:currently )?empty[.!]?', 'continue shopping'],
  },
  {
    reason: 'date of the page',
    isLink: false,
    phrases: [
      '(?:this page was )?last (?:updated|modified|edited|reviewed|changed)(?: (?:on|at))?\\s*:?[^.!?:]{0,40}\\d{4}(?:[^.!?]{0,30}\\d\\d)?(?: by [^.!?]{1,30})?\\.?',
      '(?:zuletzt (?:aktualisiert|geändert|bearbeitet)|letzte (?:aktualisierung|änderung)|dernière (?:mise à jour|modification)|última (?:actualización|atualização|modificación)|ultimo aggiornamento|最終更新|最后更新)[^!?]{0,40}\\d{4}[^!?]{0,20}',
    ],
  },
]

const RULES = KINDS.map(({ reason, isLink, phrases }) => ({
  reason,
  isLink,
  pattern: new RegExp(`^(?:(?:${phrases.join('|')})[\\s|·•/]*)+$`, 'iu'),
}))

/** A block that does not match contains none of the phrases. */
const ANY_PHRASE = new RegExp(KINDS.flatMap(({ phrases }) => phrases).join('|'), 'iu')

/** Elements whose meaning depends on their position: rows of tables, terms, code. */
const POSITIONAL_ELEMENTS = new Set(
  wordsIn('html body main article pre code table thead tbody tr td th dl dt dd blockquote figure'),
)

/** Drops small blocks by their whole text: questions about the page, links to its top, the breadcrumb path. */
export function removeByText(root: Element, step: string, statistics: StatisticsMap): void {
  let isAtTop = true
  const visit = (element: Element) => {
    const { children } = element
    for (let i = 0; i < children.length; i++) {
      const child = children[i]
      if (typeof child !== 'object' || child.dropped !== undefined || child.name === 'pre') continue
      if (INLINE_ELEMENTS.has(child.name) && (isOnSameLine(children[i - 1]) || isOnSameLine(children[i + 1]))) continue
      const counts = statistics.get(child)
      if (counts.textLength === 0) continue
      if (counts.textLength <= MAX_CHARS) {
        const text = lineOf(child)
        const hasPhrase = ANY_PHRASE.test(text)
        const reason =
          isAtTop && counts.linkCount >= MIN_LINKS && isBreadcrumbPath(child)
            ? BREADCRUMBS.reason
            : hasPhrase
              ? reasonOf(child, text, counts)
              : undefined
        if (reason !== undefined) {
          drop(child, step, reason)
          continue
        }
        if (!isAtTop && !hasPhrase) continue
      }
      if (beginsText(child, counts)) isAtTop = false
      visit(child)
    }
  }
  visit(root)
}

/** Whether a neighbor of an inline element is on the same line, so that the element is only a part of a text. */
function isOnSameLine(node: Element | string | undefined): boolean {
  if (node === undefined) return false
  if (typeof node === 'string') return node.trim() !== ''
  return node.dropped === undefined && INLINE_ELEMENTS.has(node.name)
}

function reasonOf(element: Element, text: string, counts: Statistics): string | undefined {
  if (
    POSITIONAL_ELEMENTS.has(element.name) ||
    HEADINGS.has(element.name) ||
    counts.headingCount > 0 ||
    counts.codeBlockCount > 0
  )
    return undefined
  const hasLink = counts.linkCount > 0
  return RULES.find(({ isLink, pattern }) => (hasLink || (!isLink && element.name !== 'li')) && pattern.test(text))
    ?.reason
}

/** Whether an element begins the text of the page. A breadcrumb path comes before the text. */
function beginsText({ name }: Element, { proseLength }: Statistics): boolean {
  return (name === 'p' && proseLength > 0) || name === 'h2' || name === 'h3' || name === 'table'
}

const SEPARATOR = /^[\s›»>/→⟩❯▸\\|]+$/u
const MIN_BREADCRUMBS = 3
const MIN_LINKS = 2

/** Whether a line is a breadcrumb path: "Home › Guide › Install". The last part need not be a link. */
function isBreadcrumbPath(element: Element): boolean {
  if (POSITIONAL_ELEMENTS.has(element.name) || HEADINGS.has(element.name)) return false
  let parts = 0
  let separators = 0
  for (const child of element.children) {
    if (typeof child !== 'string') {
      if (child.dropped !== undefined) continue
      if (!INLINE_ELEMENTS.has(child.name)) return false
      if (SEPARATOR.test(lineOf(child))) separators++
      else parts++
    } else if (child.trim() !== '') {
      const [separator = '', rest = ''] = child.trim().split(/(?<=^[›»>/→⟩❯▸\\|])\s*/u)
      if (!SEPARATOR.test(separator)) return false
      separators++
      if (rest !== '') parts++
    }
  }
  return parts >= MIN_BREADCRUMBS && separators === parts - 1
}
