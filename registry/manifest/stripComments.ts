/** JSON with its `//` and `/* … *\/` comments blanked, every other character where it was, so that error positions stay right. */
export function stripComments(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' '),
  )
}
