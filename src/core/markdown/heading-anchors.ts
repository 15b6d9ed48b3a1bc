import type { Section } from '../model.ts'

/** Adds the anchors that sites which show Markdown give to its headings. */
export function withHeadingAnchors(sections: readonly Section[]): Section[] {
  const used = new Map<string, number>()
  const name = (section: Section): Section => {
    const anchor = section.anchor ?? nextAnchor(section.title, used)
    return { ...section, anchor: anchor === '' ? null : anchor, children: section.children.map(name) }
  }
  return sections.map(name)
}

/** `What's new?` → `whats-new`; the second heading of that name gets `whats-new-1`. */
function nextAnchor(title: string, used: Map<string, number>): string {
  const slug = title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  const before = used.get(slug) ?? 0
  used.set(slug, before + 1)
  return before === 0 || slug === '' ? slug : `${slug}-${before}`
}
