import { decodeHTML } from 'entities/decode'

/**
 * The text of raw HTML in Markdown. The tags of known elements are left out, because they are markup; anything else is part of the text,
 * such as `Vec<String>` and scripts, which are shown instead of run.
 */
export function readHtmlText(html: string): string {
  const text = removeComments(html).replace(/<\/?([a-z][a-z\d]*)\b[^<>]*>/gi, (tag, name: string) => {
    return KNOWN_ELEMENTS.has(name.toLowerCase()) ? '' : tag
  })
  return decodeHTML(text)
}

/** A pattern would look for the end of each of many open comments again. */
function removeComments(html: string): string {
  let text = ''
  let from = 0
  for (;;) {
    const start = html.indexOf('<!--', from)
    const end = start < 0 ? -1 : html.indexOf('-->', start + 4)
    if (end < 0) return text + html.slice(from)
    text += html.slice(from, start)
    from = end + 3
  }
}

const KNOWN_ELEMENTS: ReadonlySet<string> = new Set(
  'a abbr align article aside b big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p picture pre q s samp section small source span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var video wbr'.split(
    ' ',
  ),
)
