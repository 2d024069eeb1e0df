// Rust source as HTML: a span for each line, with colours for its parts.

const keywords = new Set(('as async await break const continue crate dyn else enum extern false fn for if impl in let '
  + 'loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while')
  .split(' '));

// The order matters: the first that matches is taken.
const parts = new RegExp([
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)/,
  /(?<string>b?"(?:[^"\\]|\\[\s\S])*"|br?#+"[\s\S]*?"#+|r"[^"]*"|r#+"[\s\S]*?"#+|'(?:[^'\\]|\\[^']+)')/,
  /(?<attribute>#!?\[[^\]]*\])/,
  /(?<await>\.await\b)/,
  /(?<lifetime>'[a-z_]\w*)/,
  /(?<number>\b\d[\w.]*\b)/,
  /(?<macro>\b[a-z_]\w*!)/,
  /(?<type>\b[A-Z]\w*)/,
  /(?<call>\b[a-z_]\w*(?=(?:::<[^>]*>)?\())/,
  /(?<word>\b[a-z_]\w*\b)/,
].map((part) => part.source).join('|'), 'g');

export const escape = (text) =>
  text.replace(/[&<>"]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[each]);

function colour(source) {
  let html = '';
  let end = 0;
  for (const match of source.matchAll(parts)) {
    html += escape(source.slice(end, match.index));
    end = match.index + match[0].length;
    let [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    if (kind === 'word' || kind === 'call') kind = keywords.has(match[0]) ? 'keyword' : kind;
    // A span ends with its line, so that each line is complete by itself.
    const pieces = match[0].split('\n').map(escape);
    html += kind === 'word' ? match[0] : pieces.map((piece) => `<span class="${kind}">${piece}</span>`).join('\n');
  }
  return html + escape(source.slice(end));
}

/// The lines of a file, each with its number as an anchor, after a prefix.
export function highlight(source, { isRust = true, prefix = '' } = {}) {
  const text = source.replace(/\n$/, '');
  const lines = (isRust ? colour(text) : escape(text)).split('\n');
  const html = lines.map((line, index) => `<span class="line" id="${prefix}L${index + 1}">${line || ' '}</span>`);
  return `<pre class="code" tabindex="0"><code>${html.join('')}</code></pre>`;
}
