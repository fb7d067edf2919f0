//! Paths that begin with a variable: `$D/src` is `/src` only where the variable may be empty.

use super::folder_changes::Workspace;

#[test]
fn a_variable_that_is_always_set_is_not_empty() {
    let workspace = Workspace::new();
    for command in [
        "D=ui; cat $D/x",
        "D=ui && cat \"$D/x\" ${D}/src",
        "D=ui\ncat $D/x",
        "D=ui E=ui/src; ls $D/src; ls $E/../x",
        "for f in ui a; do ls $f/src; done",
        "for f in ui a; do ls \"$f\"/b && ls ${f}/c; done; ls x",
        "for f in a/*; do cat $f/c; done",
        "for f in $(ls ui); do ls $f/x; done",
        "for f in $(ls ui) $E; do cp a \"$f/x\"; done",
        "for f in $(cat y | sort); do timeout 5 ls $f/x; done",
        "for f in $E; do cat $f/x; done",
        "cd ui && for f in src x; do ls $f/a; done",
        "ls && for f in ui; do for g in src; do cat $f/$g/x; done; done",
        "if ls; then for f in ui; do ls $f/x; done; fi",
        "D=ui; while ls $D/x; do ls $D/src; done",
        "D=ui; D=a; ls $D/b",
        "D=ui; (cd $D/src && ls)",
        "D=ui; f() { ls $D/x; }; f",
        "echo '$D/etc' && D=ui && true",
        "D=$(pwd); ls $D/ui \"$(pwd)/x\"",
        "D=$(git rev-parse --show-toplevel) && ls \"$D/ui\"",
        "D=$(echo ui); ls $D/x",
        "D=ui && trap 'rm -rf \"$D\"' EXIT && cp -r a \"$D\"/",
    ] {
        assert!(!workspace.leads_outside(command), "{command}");
    }
}

#[test]
fn a_variable_that_may_be_empty_is() {
    let workspace = Workspace::new();
    for command in [
        "cat $D/x",
        "cat $D/x; D=ui",
        "D=; cat $D/x",
        "D=''; cat $D/x",
        "D=ui; D=; cat $D/x",
        "D=$E; cat $D/x",
        "D=$(cat y); cat $D/x",
        "D=$(echo); cat $D/x",
        "D=$(echo $E); cat $D/x",
        "cd ui/src; D=$(pwd); cd ../..; cat $D/../../../x",
        "D=ui true; cat $D/x",
        "false && D=ui; cat $D/x",
        "if ls; then D=ui; fi; cat $D/x",
        "(D=ui); cat $D/x",
        "D=ui | cat; cat $D/x",
        "D=ui & cat $D/x",
        "D=ui; unset D; cat $D/x",
        "D=ui; while ls; do cat $D/x; unset D; done",
        "D=ui; read D; cat $D/x",
        "D=ui; eval D=; cat $D/x",
        "D=ui; trap 'D=' DEBUG; cat $D/x",
        "D=ui; trap 'D=' EXIT INT; cat $D/x",
        "D=ui; . ./a; cat $D/x",
        "D=ui; printf -v D ''; cat $D/x",
        "D=ui; f() { local D; cat $D/x; }; f",
        "D=ui; f() { D=; }; f; cat $D/x",
        "D=ui; export D=; cat $D/x",
        "D=ui; $E D; cat $D/x",
        "D=ui; for D in ''; do cat $D/x; done",
        "for f in; do ls; done; cat $f/x",
        "for f in ui ''; do cat $f/x; done",
        "for f in \"$E\"; do cat $f/x; done",
        "for f in \"$(ls)\"; do cat $f/x; done",
        "for f in \"$@\"; do cat $f/x; done",
        "for f in $(ls) ''; do cat $f/x; done",
        "for f in $(ls) $(ls)''; do cat $f/x; done",
        "IFS=:; for f in $(ls); do cat $f/x; done",
        "for f in $(ls); do cat ${f%y}/x; done",
        "for f in $(ls); do cat ../x $f/x; done",
        "false && for f in ui; do ls; done; cat $f/x",
        "cat $f/x; for f in ui; do ls; done",
        "for f in ui; do cat $f/x; f=; done",
        "D=ui; cat ${D%ui}/x",
        "D=ui; cat ${D:2}/x",
        "D=ui; cat ${D+}/x",
        "D=ui; sh -c 'cat $D/x'",
        "D=ui; env -i sh -c 'ls; cat $D/x'",
        "for D in ui; do sh -c 'cat $D/x'; done",
        "DD=ui; cat $D/x",
        "HOME=ui; cat $OLDPWD/x",
    ] {
        assert!(workspace.leads_outside(command), "{command}");
    }
}
