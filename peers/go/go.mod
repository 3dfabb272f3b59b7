module parkbench/peers/go

go 1.26
