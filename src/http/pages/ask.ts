import { ADDRESS_WITHOUT_SCHEME, LOOPBACK_WITHOUT_SCHEME, TYPED_ADDRESS } from '../../core/url/typed-address.ts'

/**
 * The script behind Ctrl-K and its button on the server-rendered pages: a box that takes an address, which leads to its history, or words, which lead to
 * a search. The page works without it.
 */
export const ASK_SCRIPT: string = `
function createAskBox() {
  const dialog = document.createElement('dialog')
  dialog.className = 'ask'
  dialog.setAttribute('aria-label', 'Search or explain a URL')
  dialog.setAttribute('closedby', 'any')
  const form = document.createElement('form')
  const input = document.createElement('input')
  input.type = 'text'
  input.autocomplete = 'off'
  input.setAttribute('aria-label', 'Address or words')
  input.placeholder = 'Paste an address to see why it is here or not, or type words'
  form.append(input)
  dialog.append(form)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const text = input.value.trim()
    if (text === '') return
    const scheme = ${LOOPBACK_WITHOUT_SCHEME}.test(text) ? 'http://' : 'https://'
    const url = ${ADDRESS_WITHOUT_SCHEME}.test(text) ? scheme + text : text
    dialog.close()
    location.assign(${TYPED_ADDRESS}.test(text) ? '/url?url=' + encodeURIComponent(url) : '/#/search?q=' + encodeURIComponent(text))
  })
  document.body.append(dialog)
  return dialog
}
function openAskBox() {
  const dialog = document.querySelector('dialog.ask') ?? createAskBox()
  if (!dialog.open) dialog.showModal()
  dialog.querySelector('input').select()
}
function createAskButton() {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'ask-button'
  button.setAttribute('aria-label', 'Search or explain a URL Ctrl K')
  button.setAttribute('aria-keyshortcuts', 'Control+K')
  const label = document.createElement('span')
  label.textContent = 'Search or explain a URL'
  const key = document.createElement('kbd')
  key.textContent = 'Ctrl K'
  button.append(label, ' ', key)
  button.addEventListener('click', openAskBox)
  return button
}
document.querySelector('.tools')?.prepend(createAskButton())
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  event.preventDefault()
  openAskBox()
})
`

/** The style of the box. */
export const ASK_STYLE = `
dialog.ask { width: min(44rem, calc(100vw - 2rem)); margin-top: 10vh; padding: 0; color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: 0 12px 32px rgb(0 0 0 / 25%); }
dialog.ask::backdrop { background: rgb(0 0 0 / 40%); }
dialog.ask input:not([type="checkbox"]) { width: 100%; min-height: 3.25rem; padding: 0 var(--space-4); font-size: 1.0625rem; border: 0; }
dialog.ask input::placeholder { color: var(--text-2); }
`
