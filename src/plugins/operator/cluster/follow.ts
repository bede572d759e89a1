import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { reflect } from '../../../runtime/kube/reflect.ts';
import type { ReflectOptions, Reflector } from '../../../runtime/kube/reflect-options.ts';
import type { Followed } from './contract.ts';

type Handle<T> = Parameters<Followed<T>['onChange']>[0];

/** A reflector that tells those who want to know. */
export interface Following<T> extends Followed<T>, Pick<Reflector<T>, 'whenSynced' | 'closed'> {}

export function follow<O extends KubeObject, T>(
  options: Omit<ReflectOptions<O, T>, 'onAdd' | 'onChange' | 'onDelete'>,
): Following<T> {
  const handles: Handle<T>[] = [];
  const tell: Handle<T> = (value, before, gone) => {
    for (const handle of handles) handle(value, before, gone);
  };
  const reflector = reflect<O, T>({
    ...options,
    onAdd: (value) => tell(value, undefined, false),
    onChange: (value, before) => tell(value, before, false),
    onDelete: (value) => tell(value, value, true),
  });
  return Object.assign(reflector, { onChange: (handle: Handle<T>) => void handles.push(handle) });
}
