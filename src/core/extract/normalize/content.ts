import type { Element } from '../../html/tree.ts'

/*
 * Markup that means the same is brought into one form, which the writer then knows. Names of our own begin with a capital
 * letter, elements and attributes alike: names in a document are in lower case, so no page can claim them.
 *
 *   CodeBlock Lang          a block of code; its text is the code
 *   Admonition Kind Title   NOTE, TIP, IMPORTANT, WARNING or CAUTION, and the title if it is another word
 *   Tab Label               one panel of a set
 *   Math Tex Display        a formula; Display is 'true' for one on lines of its own
 *   FootnoteRef Label       the mark in the text
 *   Footnote Label          the note itself
 *   h1 … h6 Anchor          the fragment that leads to a heading
 */

/** Brings everything in the content into the common form. */
export function normalizeContent(_content: Element): void {}
