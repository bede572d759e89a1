import { documentationOf, membersOf } from './source-tree.ts';

/** What `svc-wrapper` takes besides the settings of `svc run wrapper`, each alone and with a folder. */
export function folderFlags(): readonly { readonly flag: string; readonly meaning: string }[] {
  return membersOf('src/plugins/wrapper/prepare.ts', 'folderFlags').map((member) => ({
    flag: member.name.getText().replaceAll("'", ''),
    meaning: documentationOf(member),
  }));
}
