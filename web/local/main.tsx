import { render } from 'preact'
import { sanitizeRenderedText } from '../shared/showable.ts'
import { App } from './app.tsx'
import { enableOffline } from './offline.ts'

sanitizeRenderedText()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
void enableOffline()
