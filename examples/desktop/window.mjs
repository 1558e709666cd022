// All that needs Electron.
// @ts-expect-error: Electron is not installed here.
// biome-ignore lint/correctness/noUndeclaredDependencies: Electron provides it.
import { app, BrowserWindow } from 'electron'

/** Opens a window, and returns a function that adds a line to it. */
export async function openWindow() {
  await app.whenReady()
  const { webContents } = new BrowserWindow({ width: 480, height: 640, title: 'Namespaces' })
  await webContents.loadURL('data:text/html,<meta charset=utf-8><pre></pre>')
  return (text) => {
    // The text is data: it becomes a string of JavaScript, and never HTML.
    const line = JSON.stringify(`${text}\n`)
    void webContents.executeJavaScript(`document.querySelector('pre').append(${line})`)
  }
}
