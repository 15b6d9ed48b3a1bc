/* Characters by their roff names: `\(bu`, `\[em]`. */

const PAIRS = `
bu • em — en – hy - aq ' dq " lq “ rq ” oq ‘ cq ’ Bq „ bq ‚ Fo « Fc » fo ‹ fc › co © rg ® tm ™ <- ← -> → <> ↔ ua ↑ da ↓ va ↕ lA ⇐ rA ⇒ hA ⇔
<= ≤ >= ≥ != ≠ == ≡ =~ ≅ ~= ≅ ~~ ≈ ap ∼ +- ± mu × di ÷ de ° sc § ps ¶ dg † dd ‡ ul _ ru _ br │ or | ba | bv | rs \\ sl / at @ sh # Do $ Eu € eu €
Po £ Ye ¥ ct ¢ ga \` aa ´ ac ¸ ad ¨ ah ˇ a^ ^ a~ ~ ha ^ ti ~ lB [ rB ] lC { rC } la ⟨ ra ⟩ fm ′ sd ″ r! ¡ r? ¿ no ¬ tno ¬ mo ∈ nm ∉ if ∞ sq □ ci ○ lz ◊
pl + mi − eq = pc · md ⋅ ** ∗ es ∅ fa ∀ te ∃ AN ∧ OR ∨ ca ∩ cu ∪ sb ⊂ sp ⊃ ib ⊆ ip ⊇ is ∫ sr √ gr ∇ pd ∂ pt ∝ tf ∴ OK ✓ CR ↵ CL ♣ SP ♠ HE ♥ DI ♦ %0 ‰
12 ½ 14 ¼ 34 ¾ 18 ⅛ 38 ⅜ 58 ⅝ 78 ⅞ S1 ¹ S2 ² S3 ³ Of ª Om º ss ß AE Æ ae æ OE Œ oe œ ff ff fi fi fl fl Fi ffi Fl ffl -D Ð Sd ð TP Þ Tp þ o/ ø O/ Ø /o ø /O Ø
/l ł /L Ł .i ı 'A Á 'E É 'I Í 'O Ó 'U Ú 'Y Ý 'a á 'e é 'i í 'o ó 'u ú 'y ý 'C Ć 'c ć :A Ä :E Ë :I Ï :O Ö :U Ü :Y Ÿ :a ä :e ë :i ï :o ö :u ü :y ÿ
^A Â ^E Ê ^I Î ^O Ô ^U Û ^a â ^e ê ^i î ^o ô ^u û \`A À \`E È \`I Ì \`O Ò \`U Ù \`a à \`e è \`i ì \`o ò \`u ù ~A Ã ~N Ñ ~O Õ ~a ã ~n ñ ~o õ ,C Ç ,c ç oA Å oa å
vS Š vs š vZ Ž vz ž *A Α *B Β *G Γ *D Δ *E Ε *Z Ζ *Y Η *H Θ *I Ι *K Κ *L Λ *M Μ *N Ν *C Ξ *O Ο *P Π *R Ρ *S Σ *T Τ *U Υ *F Φ *X Χ *Q Ψ *W Ω *a α *b β *g γ *d δ
*e ε *z ζ *y η *h θ *i ι *k κ *l λ *m μ *n ν *c ξ *o ο *p π *r ρ *s σ ts ς *t τ *u υ *f φ *x χ *q ψ *w ω bs . lf ⌊ rf ⌋ lc ⌈ rc ⌉ lh ☜ rh ☞ nb ⊄ nc ⊅ st ∋`

const CHARACTERS: ReadonlyMap<string, string> = new Map(
  PAIRS.trim()
    .split(/\s+/)
    .reduce<[string, string][]>((pairs, word, i, words) => {
      if (i % 2 === 0) pairs.push([word, words[i + 1] ?? ''])
      return pairs
    }, []),
)

/** The character with a name; '' for an unknown one. */
export function characterOf(name: string): string {
  const known = CHARACTERS.get(name)
  if (known !== undefined) return known
  const [, codes] = /^u((?:[\dA-Fa-f]{4,6})(?:_[\dA-Fa-f]{4,6}){0,4})$/.exec(name) ?? []
  if (codes !== undefined)
    return codes
      .split('_')
      .map((code) => characterOfCode(Number.parseInt(code, 16)))
      .join('')
      .normalize()
  const [, number] = /^char(\d{1,3})$/.exec(name) ?? []
  return number === undefined ? '' : characterOfCode(Number(number))
}

/** The character with a code; '' when there is none. */
export function characterOfCode(code: number): string {
  return code >= 32 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff) ? String.fromCodePoint(code) : ''
}
