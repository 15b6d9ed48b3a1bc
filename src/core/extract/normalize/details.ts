import { convertToAdmonition } from './admonitions.ts'
import { elementAfter, type Rule, shortText } from './rule.ts'

const MAX_TITLE = 300

/** Turns buttons in a summary into text, and some collapsible parts into admonitions. The others are written expanded. */
export const normalizeDetails: Rule = (details) => {
  for (const child of details.elements()) {
    if (child.name !== 'summary') continue
    for (const inner of child.elements()) if (inner.name === 'button') inner.name = 'span'
  }
  convertToAdmonition(details)
}

/** Makes a button that opens the next element the title of that element. */
export const normalizeAccordion: Rule = (button, siblings, index) => {
  const controls = button.attribute('aria-controls') ?? ''
  if (controls === '' || !button.hasAttribute('aria-expanded')) return
  const isNext = elementAfter(siblings, index)?.id === controls
  if (isNext && shortText(button, MAX_TITLE)?.includes(' ') === true) button.name = 'summary'
}
