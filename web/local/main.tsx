import { render } from 'preact'
import { showOnlyShowable } from '../shared/showable.ts'
import { App } from './app.tsx'
import { keepOffline } from './offline.ts'

showOnlyShowable()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
void keepOffline()
