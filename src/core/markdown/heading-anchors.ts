import type { Section } from '../model.ts'

/** Adds the anchors that sites such as GitHub give to Markdown headings. */
export function withHeadingAnchors(sections: readonly Section[]): Section[] {
  const counts = new Map<string, number>()
  const addAnchor = (section: Section): Section => {
    const anchor = section.anchor ?? nextAnchor(section.title, counts)
    return { ...section, anchor: anchor === '' ? null : anchor, children: section.children.map(addAnchor) }
  }
  return sections.map(addAnchor)
}

/** `What's new?` → `whats-new`; the second heading of that name gets `whats-new-1`. */
function nextAnchor(title: string, counts: Map<string, number>): string {
  const slug = title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  const count = counts.get(slug) ?? 0
  counts.set(slug, count + 1)
  return count === 0 || slug === '' ? slug : `${slug}-${count}`
}
