/** A page that shows /openapi.json by itself: nothing is loaded from elsewhere. What it shows is put in as text, never as markup. */
export const docsPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>pkgd API</title>
<style>
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  h2 { margin-top: 2rem; text-transform: capitalize }
  details { border-top: 1px solid #8884; padding: .5rem 0 }
  summary { cursor: pointer; display: flex; gap: .8rem; flex-wrap: wrap }
  .verb { font: 600 13px/1.7 ui-monospace, monospace; min-width: 4rem; text-transform: uppercase }
  code, pre { font: 13px/1.5 ui-monospace, monospace }
  pre { overflow: auto; padding: .8rem; background: #8881; border-radius: 6px; max-height: 24rem }
  .note { opacity: .7 }
</style>
<h1>pkgd API</h1>
<p class="note">From <a href="/openapi.json">/openapi.json</a>. All but the public routes need <code>Authorization: Bearer &lt;token&gt;</code>; the token is in <code>$PKGD_HOME/token</code>.</p>
<main id="main">Loading…</main>
<script>
  const element = (name, text, className) => {
    const made = document.createElement(name)
    if (text !== undefined) made.textContent = text
    if (className) made.className = className
    return made
  }
  const block = (title, value) => [element('p', title, 'note'), element('pre', JSON.stringify(value, null, 2))]
  const show = (path, verb, operation) => {
    const details = element('details')
    const summary = element('summary')
    summary.append(element('span', verb, 'verb'), element('code', path), element('span', operation.summary ?? ''))
    if (operation.security?.length === 0) summary.append(element('span', 'no token', 'note'))
    details.append(summary)
    if (operation.parameters) details.append(...block('Parameters', operation.parameters))
    const body = operation.requestBody?.content?.['application/json']?.schema
    if (body) details.append(...block('Body', body))
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      const schema = response.content?.['application/json']?.schema
      if (schema) details.append(...block('Answer ' + status, schema))
    }
    return details
  }
  fetch('/openapi.json').then((response) => response.json()).then((api) => {
    const main = document.getElementById('main')
    const groups = new Map()
    for (const [path, item] of Object.entries(api.paths))
      for (const [verb, operation] of Object.entries(item)) {
        const tag = operation.tags?.[0] ?? 'other'
        if (!groups.has(tag)) groups.set(tag, [])
        groups.get(tag).push(show(path, verb, operation))
      }
    main.replaceChildren()
    for (const [tag, all] of groups) main.append(element('h2', tag), ...all)
  }).catch((error) => { document.getElementById('main').textContent = String(error) })
</script>
</html>
`
