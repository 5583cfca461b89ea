/** What the extension itself knows of the server. */
export type State = 'starting' | 'running' | 'stopped' | 'missing';

/** The params of the notification `quarry/status`; docs/protocol.md says more. */
export interface Note {
  level: 'ready' | 'busy' | 'warning';
  text: string;
  detail: string;
  model: { name: string; state: 'ready' | 'loading' | 'none'; off?: boolean; host?: string };
  sends: { host: string; remote: boolean }[];
  modelFree: boolean;
  work: { kind: 'indexing' | 'learning' | 'embedding' }[];
  remedies: { title: string; command: string; arguments: string[] }[];
}

/** How the status bar shows quarry: an icon, what stands behind the name, the tooltip, and a colour of VS Code's. */
export interface Look {
  icon: string;
  text: string;
  says: string;
  color?: string;
}

/**
 * The status bar's look. It is quiet where all is well, but never of what the user should know at a glance: that code leaves
 * the machine, that no model is asked, that the index is not there yet. What the note's own words leave out stands in brackets.
 *
 * @param on whether ghost text is wanted
 */
export function look(state: State, on: boolean, version: string, note?: Note): Look {
  switch (state) {
    case 'starting':
      return { icon: '$(loading~spin)', text: '', says: 'quarry is starting.' };
    case 'stopped':
      return { icon: '$(error)', text: '', says: 'quarry has stopped; the log says why.', color: 'statusBarItem.errorBackground' };
    case 'missing':
      return { icon: '$(error)', text: '', says: 'quarry was not found; set quarry.path.', color: 'statusBarItem.errorBackground' };
  }
  const says = on ? `quarry ${version} shows ghost text.` : `quarry ${version}: ghost text is off.`;
  const calm = on ? '$(sparkle)' : '$(circle-slash)';
  if (!note) {
    return { icon: calm, text: '', says };
  }
  const words = note.level === 'ready' && !note.modelFree ? '' : note.text;
  const away = note.sends.filter(({ remote }) => remote).map(({ host }) => `${host === note.model.host ? 'on' : 'code to'} ${host}`);
  const busy = note.work.find(({ kind }) => kind !== 'embedding')?.kind; // searches do without what is embedded
  const others = [
    note.model.off && note.text !== 'model-free' ? 'model-free' : '',
    busy && !note.text.startsWith(busy) ? busy : '',
    ...new Set(away),
  ].filter((other) => other && !words.includes(other));
  return {
    icon: { ready: away.length ? '$(cloud-upload)' : calm, busy: '$(loading~spin)', warning: '$(warning)' }[note.level],
    text: words ? `: ${words}${others.length ? ` (${others.join(', ')})` : ''}` : others.length ? `: ${others.join(', ')}` : '',
    says: `${says}\n${note.detail}`,
    color: note.level === 'warning' ? 'statusBarItem.warningBackground' : undefined,
  };
}

/** Characters for which a status bar has room: VS Code cuts what takes more than two fifths of the window, at the end. */
const room = 48;

/**
 * A text for the status bar in which long names are cut in their middle, as little as makes it fit, so that what stands behind
 * them is seen. The tooltip says all of it.
 */
export function short(text: string): string {
  let shown = text;
  for (let most = 24; shown.length > room && most >= 8; most -= 4) {
    shown = text.replace(/[^\s(),]+/g, (name) => {
      const chars = [...name];
      return chars.length > most ? `${chars.slice(0, most / 2 - 1).join('')}…${chars.slice(-most / 2).join('')}` : name;
    });
  }
  return shown;
}
