/** Describes how the text to embed is composed. Vectors of texts composed in another way belong to another space. */
export const TEXT_RECIPE = 'title, headings, content without link targets; 1'

/** A text for testing whether a model returns vectors. */
export const PROBE_TEXT = 'A lighthouse shows where the harbour is.'

/** The text of a chunk to embed: title, headings and readable text. Link targets carry no meaning and would use up tokens. */
export function embeddedText(title: string, headingPath: readonly string[], content: string): string {
  const head = [title, ...headingPath].filter((line, i, lines) => line !== '' && lines.indexOf(line) === i)
  return `${head.join('\n')}\n${content.replace(LINK_TARGET, ']')}`
}

const LINK_TARGET = /\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?: "[^"\n]*")?\)/g
