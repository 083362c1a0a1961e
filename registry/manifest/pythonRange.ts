// PEP 440: one comparison, such as ">=3.11", "==3.12.*" or "~=3.11".
const clause =
  /^\s*(===|==|!=|<=|>=|<|>|~=)\s*v?\d+(\.\d+)*(\.\*|((a|b|rc|alpha|beta|c|pre|preview)[-_.]?\d*)?([-_.]?(post|rev|r)[-_.]?\d*)?([-_.]?dev[-_.]?\d*)?(\+[a-z0-9]+([-_.][a-z0-9]+)*)?)\s*$/i

/** Whether the text is a list of PEP 440 version specifiers joined by commas. */
export const isPythonRange = (text: string): boolean => text.split(',').every((part) => clause.test(part))
